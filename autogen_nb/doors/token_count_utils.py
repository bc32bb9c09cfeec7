"""Counts of tokens, under AutoGen 0.2's module name."""

from autogen_nb.models.token_counts import count_token, get_max_token_limit, percentile_used, token_left

__all__ = ["count_token", "get_max_token_limit", "percentile_used", "token_left"]
