"""Measurements, each with the raw floor measured in the same run; `python -m benchmarks` runs them all."""
