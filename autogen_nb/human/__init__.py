"""Ways to ask a person, or to say that nobody is there."""
