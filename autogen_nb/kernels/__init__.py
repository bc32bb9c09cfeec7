"""Starts the Jupyter kernels of agents, runs code in them, and transfers variables."""
