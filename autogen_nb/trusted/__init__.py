"""Reads files that bind this process, if only their owner can have written them."""
