"""The commands of ``%autogen``, a module each."""
