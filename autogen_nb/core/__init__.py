"""Flows of chats, policies for code, and the analysis of code; none of them does input or output."""
