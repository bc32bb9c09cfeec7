"""Files that bind this process, read only where nobody but their owner can have written them."""
