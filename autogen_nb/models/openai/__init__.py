"""Models behind OpenAI's chat completions API, and AgentChat's client classes for these models."""

from autogen_nb.lazy_export import lazy_export

__getattr__, __all__ = lazy_export(__name__, "AzureOpenAIChatCompletionClient OpenAIChatCompletionClient")
