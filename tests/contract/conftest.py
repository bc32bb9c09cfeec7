"""One agent for each way to run code; a way that this machine cannot have is skipped by name."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from importlib import import_module
from typing import Any

import pytest

from tests.contract.ways import WAYS, Agent, Cannot, Way, image, running, skip_without_counters


@pytest.fixture
def engine() -> Iterator[Any]:
    try:
        image()
    except Cannot as cannot:
        pytest.skip(str(cannot))
    with closing(import_module("docker").from_env()) as client:
        yield client


class Agents:
    def __init__(self, stack: ExitStack, factory: pytest.TempPathFactory) -> None:
        self._stack = stack
        self._factory = factory
        self._made: dict[str, Agent | Cannot] = {}

    def of(self, way: Way) -> Agent:
        if way.name not in self._made:
            try:
                folder = self._factory.mktemp("work").resolve()
                self._made[way.name] = self._stack.enter_context(running(way, folder))
            except Cannot as cannot:
                self._made[way.name] = cannot
        found = self._made[way.name]
        if isinstance(found, Cannot):
            pytest.skip(f"{way.name}: {found}")
        return found


@pytest.fixture(scope="session")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agents]:
    with ExitStack() as stack:
        yield Agents(stack, tmp_path_factory)


def _params(ways: Iterable[Way]) -> list[object]:
    return [pytest.param(way, id=way.name, marks=way.marks) for way in ways]


@pytest.fixture(params=_params(way for way in WAYS if way.limited))
def limited(request: pytest.FixtureRequest, agents: Agents) -> Agent:
    return agents.of(request.param)


@pytest.fixture(params=_params(way for way in WAYS if way.limited and way.watched))
def watched(request: pytest.FixtureRequest, agents: Agents) -> Agent:
    if "docker" in request.param.name:
        skip_without_counters()
    return agents.of(request.param)


@pytest.fixture(params=_params(WAYS))
def agent(request: pytest.FixtureRequest, agents: Agents) -> Agent:
    return agents.of(request.param)


@pytest.fixture(params=_params(way for way in WAYS if way.keeps))
def kernel(request: pytest.FixtureRequest, agents: Agents) -> Agent:
    return agents.of(request.param)
