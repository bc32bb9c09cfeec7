"""Test doubles for agents: a scripted model, a scripted person, a scripted executor, and a local OpenAI server."""

from autogen_nb.testing.fake_openai import FakeOpenAI, FakeReply, Received, Scripted
from autogen_nb.testing.scripted import (
    Ran,
    ReplayChatCompletionClient,
    ScriptedExecutor,
    ScriptedHuman,
    ScriptedModel,
    ScriptedReply,
)

__all__ = [
    "FakeOpenAI",
    "FakeReply",
    "Ran",
    "Received",
    "ReplayChatCompletionClient",
    "Scripted",
    "ScriptedExecutor",
    "ScriptedHuman",
    "ScriptedModel",
    "ScriptedReply",
]
