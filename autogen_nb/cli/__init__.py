"""The `autogen-nb` command: one module for each subcommand, and shared modules."""
