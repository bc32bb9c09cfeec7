"""`MathUserProxyAgent`, under AutoGen 0.2's module name."""

from autogen_nb.agents.math_user_proxy import MathUserProxyAgent

__all__ = ["MathUserProxyAgent"]
