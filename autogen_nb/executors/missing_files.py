"""Says where a file is that code has looked for under the name of the directory that it runs in."""

import re
from pathlib import Path, PurePath

from autogen_nb.outputs import Failure, Output, Stream

_MISSING = re.compile(r"No such file or directory: '([^']+)'")
# Anything may be printed; this is how a traceback ends.
_RAISED = re.compile(r"^FileNotFoundError: \[Errno 2\] No such file or directory: '([^']+)'", re.MULTILINE)


def shorter_name_hint(output: Output, work_dir: Path) -> str:
    """That a file which the output misses is in the working directory under a shorter name; "" where it is not."""
    match output:
        case Failure(evalue=text) | Stream(name="stderr", text=text):
            missing = _MISSING.search(text)
        case Stream(text=text):
            missing = _RAISED.search(text)
        case _:
            return ""
    if missing is None:
        return ""
    parts = [part for part in PurePath(missing[1]).parts if part != "."]
    if len(parts) < 2 or parts[0] != work_dir.name or not (work_dir / Path(*parts[1:])).exists():  # noqa: PLR2004 - a folder and a name
        return ""
    return f"The code runs in {parts[0]!r}, so {missing[1]!r} is {str(Path(*parts[1:]))!r} here."
