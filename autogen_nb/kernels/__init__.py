"""Jupyter kernels for agents: launching, running code, handing variables over."""
