"""Jupyter kernels for agents: starting them, running code, transferring variables."""
