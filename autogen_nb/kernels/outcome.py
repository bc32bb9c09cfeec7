"""The outcome of a block: the exit code, and a note that is not part of the block's output."""

import errno
import os
import re
import signal
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from autogen_nb.kernels.message_decoding import changes
from autogen_nb.kernels.request import ExecuteRequest
from autogen_nb.outputs import BACK, Failure

# Exit codes of blocks, as a shell and `timeout` report them.
LIMITED = 137
TIMED_OUT = 124
INTERRUPTED = 130

LOST = "its variables are lost"
KEPT = "its variables are kept"
_MISSING_FILE = re.compile(r"^FileNotFoundError: \[Errno 2\] No such file or directory: '([^']+)'", re.MULTILINE)
_NOT_STARTED = re.compile(
    r"PermissionError: \[Errno 13\] .*: '([^']+)'$|([^\s:]+): (?:\S+ bad interpreter: )?Permission denied"
)
_QUOTED = re.compile(r"(['\"])(.+)\1")


@dataclass(frozen=True, slots=True)
class BlockOutcome:
    """`note` is shown after the outputs, and `changes` names the changed variables."""

    exit_code: int
    note: str = ""
    changes: str = ""

    @property
    def ok(self) -> bool:
        return self.exit_code == 0


def classify(request: ExecuteRequest, ending: str | None, reached: str = "", *, is_back: bool = False) -> BlockOutcome:
    """`reached` is an exceeded limit, and `is_back` means that the kernel is back at a checkpoint."""
    if request.end in ("died", "stuck"):
        return _lost_outcome(request, ending, reached, is_back=is_back)
    result = BACK if is_back else KEPT
    if request.passed:
        return BlockOutcome(LIMITED, f"The block passed its {request.passed} and was interrupted; {result}.")
    if reached and request.exit_code:
        return BlockOutcome(LIMITED, f"The block passed its {reached}; {result}.")
    if request.expired:
        return BlockOutcome(TIMED_OUT, f"The block ran out of time and was interrupted; {result}.")
    if request.interrupted and request.exit_code:
        return BlockOutcome(INTERRUPTED, f"The block was interrupted; {result}.")
    note = f"The block failed; {result}." if is_back else ""
    return BlockOutcome(request.exit_code, note, changes(request.reply))


def _lost_outcome(request: ExecuteRequest, ending: str | None, reached: str, *, is_back: bool) -> BlockOutcome:
    passed = request.passed or (reached if request.end == "died" and ending is None else "")
    killed = "the kernel was killed" if is_back else "the kernel was killed and restarted"
    if passed:
        event, code = f"The block passed its {passed}; {killed}", LIMITED
    elif request.end == "died":
        status = request.exited.result()
        restarted = "" if is_back else "; the kernel was restarted"
        # Older releases of DuckDB end their process if they cannot write their log.
        gave_up = bool(request.denied) and status == -signal.SIGABRT
        why = f", because a library gave up after a denial ({request.denied[-1]})" if gave_up else ""
        event = ending or f"{describe_end(status)} while the block ran{why}{restarted}"
        code = 128 - status if status < 0 else status or 1
    else:
        how = "ran out of time" if request.expired else "was interrupted"
        event, code = f"The block {how} and did not stop; {killed}", TIMED_OUT if request.expired else INTERRUPTED
    return BlockOutcome(code, f"{event}; {BACK if is_back else LOST}.")


def describe_end(code: int) -> str:
    if code >= 0:
        return f"The kernel ended (exit code {code})"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"The kernel was killed by {name}"


def missing_variable_hint(failure: Failure, dropped: Collection[str]) -> str:
    match = _QUOTED.fullmatch(failure.evalue.strip())
    is_of_environ = any("<frozen os>" in line or "os.py" in line for line in failure.traceback)
    if failure.ename != "KeyError" or match is None or match[2] not in dropped or not is_of_environ:
        return ""
    return (
        f"The environment variable {match[2]} is set in the notebook but withheld from the agent's code; "
        "to pass it on, a person can add its name to the option `passed`."
    )


def read_only_hint(failure: Failure, own_folder: str) -> str:
    if not own_folder or failure.ename != "OSError" or f"[Errno {errno.EROFS}]" not in failure.evalue:
        return ""
    return (
        f"In this sandbox, code must write its files in {own_folder!r}; to let code write next to the notebook, a "
        "person runs `%autogen rules add write ./` after `%autogen kernel stop` has ended this kernel."
    )


def not_started_hint(output: str, work_dir: Path) -> str:
    """For a program in the working directory, which the guard's wall cannot let a kernel read and start."""
    for path in filter(None, (path for match in _NOT_STARTED.findall(output) for path in match)):
        program = work_dir / path
        with suppress(OSError):
            if program.is_file() and os.access(program, os.X_OK):
                with program.open("rb") as file:
                    is_script = file.read(2) == b"#!"
                way = f"; run {path!r} by its interpreter, as in `sh {path}`" if is_script else ""
                return f"Behind the guard only installed programs start{way}."
    return ""


def shorter_name_hint(output: str, work_dir: Path) -> str:
    if (missing := _MISSING_FILE.search(output)) is None:
        return ""
    parts = [part for part in PurePath(missing[1]).parts if part != "."]
    # `exists` raises OSError for a name that is too long.
    with suppress(OSError):
        if len(parts) > 1 and parts[0] == work_dir.name and (work_dir / Path(*parts[1:])).exists():
            return f"The code runs in {parts[0]!r}, so {missing[1]!r} is {str(Path(*parts[1:]))!r} here."
    return ""
