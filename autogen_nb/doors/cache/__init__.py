"""Caches of replies, under AutoGen 0.2's module name."""

from autogen_nb import Cache

AbstractCache = Cache

__all__ = ["AbstractCache", "Cache"]
