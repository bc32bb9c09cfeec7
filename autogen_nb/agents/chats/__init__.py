"""What drives conversations between agents."""
