"""The parts of an agent: history, tools, code, usage, reply functions. No part knows the whole agent."""
