"""Ways to show a chat outside of a notebook."""
