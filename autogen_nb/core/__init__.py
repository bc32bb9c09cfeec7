"""Flows of chats, policies for code, and the analysis of code, all without input or output."""
