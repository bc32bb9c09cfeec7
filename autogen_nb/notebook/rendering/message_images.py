"""The pictures of messages in a cell: those that a message holds, checked; the rest are told of and never loaded."""

from collections.abc import Sequence

from autogen_nb.notebook.rendering.chat_html import line, picture
from autogen_nb.notebook.rendering.mime import safe
from autogen_nb.views.images_in_words import held, in_words


def pictures(urls: Sequence[str]) -> str:
    """The pictures at these addresses as HTML."""
    return "".join(map(_one, urls))


def _one(url: str) -> str:
    given = held(url)
    if given is not None and given[0] in (kept := safe({given[0]: given[1]})[0]):
        return picture(given[0], kept[given[0]])
    return line(in_words(url))
