"""Rows 0 and 1 of the design do no input or output: this row decides, the rows above it act."""
