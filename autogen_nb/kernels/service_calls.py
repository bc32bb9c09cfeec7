"""Calls of our own code inside the agent's kernel: as the source of a silent request, or past code that runs."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from autogen_nb.kernels.places.place import KernelHandle


def call_source(function: str, arguments: Mapping[str, Any], reply: Path) -> str:
    """The source that calls a function of `service`, whose result is then in the file `reply`.

    No value is part of it as source: the arguments are one literal of JSON text.
    """
    called = f"{function!r}, {json.dumps(arguments)!r}, {str(reply)!r}"
    return f'__import__("sys").modules["autogen_nb_service"].answer({called})'


async def list_variables(launched: KernelHandle, seconds: float) -> Any:
    """What `service` lists as variables while other code runs; None where the kernel does not answer in time.

    It is asked on the control channel, which a kernel reads in a thread of its own.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return (await launched.channels.ask("control", "autogen_nb_variables", {})).get("variables")
    return None
