"""Variables on their way into a kernel and back."""
