"""Conversations between agents: their flows, and the answers to the flows' questions."""
