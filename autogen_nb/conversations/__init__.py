"""A series of chats and their kernels: what a notebook and a server have in common."""
