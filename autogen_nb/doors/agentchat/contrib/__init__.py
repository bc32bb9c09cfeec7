"""Agents for special tasks, under AutoGen 0.2's module names; what does not exist here has stand-ins."""

from autogen_nb.agents.unavailable import add_modules

add_modules(__name__)
