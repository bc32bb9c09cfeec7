"""Re-exports under AutoGen 0.2's module names; the folder is on the package's path, without its own name."""
