"""Runs the scenarios of the record of AutoGen 0.2 both ways, and writes what each came to as JSON.

usage: python both_ways.py PROGRAM

PROGRAM is `tests/parity/measured/run.py`. It starts its chats by the sync methods; for "async" these are replaced,
where no loop runs, by ones that run the awaited twin in a loop of their own.
"""

import asyncio
import importlib.util
import json
import logging
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal

import autogen_nb
from autogen_nb.event_json import to_json
from autogen_nb.events import Recorded

METHODS = ("initiate_chat", "send", "generate_reply")


class Chats:
    def __init__(self, way: Literal["sync", "async"]) -> None:
        self._way = way
        self.logs: list[list[dict[str, Any]]] = []
        self.started: list[str] = []

    def watch(self, method: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def called(agent: Any, *args: Any, **kwargs: Any) -> Any:
            if _in_a_loop():
                return original(agent, *args, **kwargs)
            self.started.append(method)
            if self._way == "sync":
                returned = original(agent, *args, **kwargs)
            else:
                returned = asyncio.run(getattr(agent, f"a_{method}")(*args, **kwargs))
            if hasattr(returned, "log"):
                self.logs.append([_untimed(event) for event in returned.log])
            return returned

        return called


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _untimed(event: Recorded) -> dict[str, Any]:
    return {key: value for key, value in to_json(event).items() if key != "seconds"}


def _loaded(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("parity", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(path: str) -> None:
    parity: Any = _loaded(path)
    logging.disable(logging.WARNING)
    _, port = parity.F.serve()
    originals = {method: getattr(autogen_nb.ConversableAgent, method) for method in METHODS}
    came_to: dict[str, dict[str, Any]] = {}
    ways: tuple[Literal["sync", "async"], ...] = ("sync", "async")
    for name in parity.S:
        for way in ways:
            chats = Chats(way)
            for method, original in originals.items():
                setattr(autogen_nb.ConversableAgent, method, chats.watch(method, original))
            recorded, error = parity.run_one(name, autogen_nb, port, "autogen_nb")
            kept = parity.kept(recorded)
            found = {"recorded": recorded, "kept": kept, "error": error, "logs": chats.logs, "started": chats.started}
            came_to.setdefault(name.partition("_")[0], {})[way] = found
    json.dump(came_to, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
