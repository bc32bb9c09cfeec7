"""The first chat's kernel, which starts before the rest of what cells need is loaded: little is imported here."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autogen_nb.agents.parts.execution_target import ExecutionTarget
from autogen_nb.engine import engine
from autogen_nb.errors import AutogenError
from autogen_nb.notebook.settings import Defaults

if TYPE_CHECKING:
    from autogen_nb.executors.jupyter_executor import JupyterExecutor


@dataclass(frozen=True, slots=True)
class FirstKernel:
    """An executor that starts already, and where its code runs."""

    where: ExecutionTarget
    executor: "JupyterExecutor"


def begin_first_kernel(cwd: Path, defaults: Defaults) -> FirstKernel | None:
    """A kernel as the settings have it, being started; None where that would cost somebody, or cannot be had."""
    # A place that cannot be had is told by the first cell.
    with suppress(AutogenError):
        where = defaults.where
        if not where.costly:
            where.check(cwd)
            executor = where.executor(cwd=cwd, imports=defaults.preimports)
            # A kernel that does not start is told when it is first needed, by the start that happens then.
            engine.submit(executor.start()).add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            return FirstKernel(where, executor)
    return None
