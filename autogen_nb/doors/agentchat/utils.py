"""The sum of usages, under AutoGen 0.2's module name."""

from autogen_nb import gather_usage_summary

__all__ = ["gather_usage_summary"]
