"""Kernels of the accelerator are interpreted where there is none: the same code, number by number."""

from __future__ import annotations

import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # read when the kernels are imported, which tests alone do
