"""Models behind Anthropic's Messages API."""
