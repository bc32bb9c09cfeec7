"""Agents of these programs, each with a model of its own name, and what is kept of a group's chat."""

import os

from autogen import ConversableAgent, LLMConfig

from tests.parity.recorded import history


def config(name):
    return LLMConfig({"model": "gpt-4o", "api_key": f"sk-{name}", "base_url": os.environ["MODEL_URL"]}, cache_seed=None)


def agent(name, **more):
    settings = {"system_message": f"You are the {name}.", "human_input_mode": "NEVER", **more}
    return ConversableAgent(name, llm_config=config(name), **settings)


def told(result, variables, last):
    return {"chat": [history(result.chat_history), result.summary], "variables": variables.to_dict(), "last": last.name}
