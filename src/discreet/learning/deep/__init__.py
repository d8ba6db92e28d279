"""Deep learning: private gradient descent around an optimizer of PyTorch (`discreet[learn-torch]`)."""
