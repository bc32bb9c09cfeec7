"""The flows and policies: they decide without input or output, and the rows above act on the decisions."""
