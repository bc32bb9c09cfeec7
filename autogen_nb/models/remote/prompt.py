"""A prompt at a server of one's own, which may take long to read it, and may cut it without an error."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from autogen_nb.core.ports import ModelRequest
from autogen_nb.messages import Usage
from autogen_nb.models.config.local_servers import USUAL
from autogen_nb.models.remote.server_errors import Server
from autogen_nb.models.requests import is_listed_at, texts_of

_PER_TOKEN = 4
"""Average characters per token."""

_MOST_PER_TOKEN = 6
"""Texts have fewer characters per token, if white space and the signs of a ruler count once."""

_REPEATED = re.compile(r"([\W_])\1+")

_LONG = 2_000
"""Tokens that a server on a small machine reads in more than a few seconds."""

_LEAST = 1_000
"""A smaller count may be that of a server which counts only what is new in a prompt, as old releases of Ollama do."""

_CONTEXTS = {
    "Ollama": "`OLLAMA_CONTEXT_LENGTH` in the environment of Ollama",
    "llama.cpp": "`--ctx-size` of llama-server",
    "LM Studio": "the model's context length in LM Studio",
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """The texts of a request, and the number of their characters."""

    server: Server
    texts: tuple[str, ...]
    characters: int

    @classmethod
    def of(cls, request: ModelRequest, server: Server) -> "Prompt":
        """The prompt of a request; without texts for the server of a provider, which would refuse one too long."""
        texts = () if is_listed_at(server.url) else tuple(texts_of(request))
        return cls(server, texts, sum(map(len, texts)))

    @property
    def tokens(self) -> int:
        return _tokens(self.characters)

    @property
    def is_long(self) -> bool:
        return self.tokens >= _LONG

    def note_on(self, usage: Usage | None) -> str:
        """A note for the person if the server has read much less than it got; else ""."""
        read = usage.prompt_tokens if usage else 0
        if read < _LEAST or self.characters / read < _MOST_PER_TOKEN:
            return ""
        characters = sum(len(_REPEATED.sub(r"\1", text)) for text in self.texts)
        if characters / read < _MOST_PER_TOKEN:
            return ""
        port = urlsplit(self.server.url).port
        kinds = [kind for kind in _CONTEXTS if USUAL[kind] == port] or list(_CONTEXTS)
        ways = ", or ".join(_CONTEXTS[kind] for kind in kinds)
        return (
            f"{self.server.host} read only {read:,} of about {_tokens(characters):,} tokens, so the model did not see "
            f"all of the prompt. Set a larger context: {ways}."
        )


def _tokens(characters: int) -> int:
    """The estimated number, to the nearest hundred."""
    return round(characters / _PER_TOKEN / 100) * 100
