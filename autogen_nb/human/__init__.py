"""Ways to ask a person, and the unattended case."""
