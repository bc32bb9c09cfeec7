"""Measures and limits the resources of kernels and other programs."""
