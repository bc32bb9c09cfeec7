"""Ways to run code blocks; each answers with a stream of outputs."""
