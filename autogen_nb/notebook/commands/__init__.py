"""The subcommands of ``%autogen``."""
