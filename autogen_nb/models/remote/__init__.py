"""Models behind the HTTP API of a provider: the requests, and what all APIs have in common."""
