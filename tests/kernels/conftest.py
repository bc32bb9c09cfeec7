"""Fixtures of the kernel's tests."""

from collections.abc import Iterator

import pytest

from tests.kernels.looping import SharedKernel, shared_kernel


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedKernel]:
    with shared_kernel(tmp_path_factory.mktemp("work"), grace=3.0) as shared:
        yield shared
