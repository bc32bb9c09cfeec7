"""Streams for the text and the questions of chats, under AutoGen 0.2's module name."""

from autogen_nb.run.io_stream import InputStream, IOConsole, IOStream, OutputStream

__all__ = ["IOConsole", "IOStream", "InputStream", "OutputStream"]
