"""Agents of these programs, each with a model of its own name."""

import os

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient


def client(name, **more):
    return OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{name}", base_url=os.environ["MODEL_URL"], **more)


def agent(name, system_message="You are the {}.", **more):
    return AssistantAgent(name, model_client=client(name), system_message=system_message.format(name), **more)
