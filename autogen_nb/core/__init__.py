"""Chats as generators of events, policies for code, and the analysis of code, all without input or output."""
