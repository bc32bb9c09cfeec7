"""Models around a model: budget, cache, fallback, recording, replay."""
