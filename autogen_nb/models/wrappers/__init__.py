"""Models that wrap other models: budget, cache, fallback, recording, truncation."""
