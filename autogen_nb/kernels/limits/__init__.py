"""What a block may use at most, and what is used."""
