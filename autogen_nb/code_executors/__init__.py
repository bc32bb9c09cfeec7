"""Executors, under the module names of `autogen_ext`."""
