"""Doubles for tests of agents: a scripted model, person and executor, and a local server that speaks OpenAI's API.

Nothing in here is used by the package itself.
"""

from autogen_nb.testing.clients import ReplayChatCompletionClient
from autogen_nb.testing.executors import Ran, ScriptedExecutor
from autogen_nb.testing.fake_openai import FakeOpenAI, Received, Scripted
from autogen_nb.testing.fake_wire import FakeReply
from autogen_nb.testing.models import ScriptedModel, ScriptedReply
from autogen_nb.testing.people import ScriptedHuman

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
