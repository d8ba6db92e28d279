"""Deep learning: private stochastic gradient descent around an optimizer of PyTorch (`discreet[learn-torch]`)."""
