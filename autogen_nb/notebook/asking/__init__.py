"""Carries questions to the person, and answers to the chat."""
