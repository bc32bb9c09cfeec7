"""A person at a terminal, answers by saved rules, and a human that answers nothing."""
