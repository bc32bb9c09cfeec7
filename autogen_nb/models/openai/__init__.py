"""OpenAI's chat completions, and every server that speaks them; the clients are here, where AgentChat has them."""

from autogen_nb.lazy_export import lazy_export

__getattr__, __all__ = lazy_export(__name__, "AzureOpenAIChatCompletionClient", "OpenAIChatCompletionClient")
