"""Errors of the caller's own code, told with the name of what raised."""

from collections.abc import Generator
from contextlib import contextmanager

from autogen_nb.errors import AutogenError, CallbackError


@contextmanager
def named(what: str) -> Generator[None, None, None]:
    """Has an exception tell what raised; our own say that already.

    Raises
    ------
    CallbackError
        In the place of any other exception, which is its cause.
    """
    try:
        yield
    except AutogenError:
        raise
    # The caller's code may raise anything.
    except Exception as error:
        raise CallbackError(f"{what} raised {type(error).__name__}: {error}") from error
