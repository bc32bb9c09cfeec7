"""The subcommands of ``%autogen``, one module each."""
