"""Interactive charts and other HTML with scripts, each in a sandboxed frame of its own."""
