"""Where a kernel runs: this machine, a sandbox, a container, a Jupyter server. `place` has the protocols of all."""
