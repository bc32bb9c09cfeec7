"""The `autogen-nb` command: one module for each of its commands, and what they share."""
