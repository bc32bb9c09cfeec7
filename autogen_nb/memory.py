"""Memories, under AgentChat's module name."""

from autogen_nb import ListMemory, Memory, MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult

__all__ = ["ListMemory", "Memory", "MemoryContent", "MemoryMimeType", "MemoryQueryResult", "UpdateContextResult"]
