"""A chat as the outputs of a cell."""
