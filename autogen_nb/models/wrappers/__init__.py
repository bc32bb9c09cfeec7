"""Models around other models (budget, cache, fallback, recording, truncation), and the replay of a recording."""
