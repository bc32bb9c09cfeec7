"""Calls of our own code inside the agent's kernel: as the source of a silent request, or past code that runs."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autogen_nb.kernels.launch import Launched


def call_source(function: str, arguments: Mapping[str, Any], reply: Path) -> str:
    """The source that calls a function of `service`, whose result is then in the file `reply`.

    No value is part of it as source: the arguments are one literal of JSON text.
    """
    called = f"{function!r}, {json.dumps(arguments)!r}, {str(reply)!r}"
    return f'__import__("sys").modules["autogen_nb_service"].answer({called})'


async def list_variables(launched: Launched, seconds: float) -> Any:
    """What `service` lists as variables while other code runs; None where the kernel does not answer in time.

    It is asked on the control channel, which a kernel reads in a thread of its own.
    """
    inbox: asyncio.Queue[Any] = asyncio.Queue()
    try:
        identifier = launched.channels.send("control", "autogen_nb_variables", {}, inbox)
    except KeyError:
        # This kernel is not reached over sockets.
        return None
    try:
        async with asyncio.timeout(seconds):
            while (found := await inbox.get())[0] != "control":
                pass
            return found[1]["content"].get("variables")
    except TimeoutError:
        return None
    finally:
        launched.channels.forget(identifier)
