"""Reads and writes files, and runs shell blocks, in a kernel on another machine.

Execute requests call most of these functions in `user_expressions`, so that the reply contains the result.
"""

import atexit
import base64
import fcntl
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress


def make() -> str:
    """Creates a private folder, and removes the folders of killed kernels."""
    new_folder = tempfile.mkdtemp(prefix="agn-new-")
    # The lock stays until the kernel ends, because the descriptor stays open.
    _lock(new_folder)
    # `private_folders.py` removes unlocked folders with this prefix, so the new folder gets it only after the lock.
    prefix = os.path.join(tempfile.gettempdir(), f"agn-{os.getuid()}-")
    private_folder = prefix + new_folder.rpartition("-")[2]
    os.rename(new_folder, private_folder)
    atexit.register(shutil.rmtree, private_folder, True)
    for path in glob.glob(f"{glob.escape(prefix)}*"):
        if path != private_folder and (descriptor := _lock(path)) is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(descriptor)
    return private_folder


def _lock(path: str) -> "int | None":
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def folder(path: str) -> str:
    os.makedirs(path, mode=0o700, exist_ok=True)
    return ""


def write(path: str, data: str) -> str:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "ab") as file:
        file.write(base64.b64decode(data))
    return ""


def read(path: str, offset: int, size: int) -> str:
    with open(path, "rb") as file:
        file.seek(offset)
        return base64.b64encode(file.read(size)).decode("ascii")


def listing(path: str) -> str:
    """The names and sizes of the files in a folder as JSON; if the path is a file, the name is ""."""
    if os.path.isfile(path):
        return json.dumps([["", os.path.getsize(path)]])
    return json.dumps([[entry.name, entry.stat().st_size] for entry in os.scandir(path) if entry.is_file()])


def remove(path: str) -> str:
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.remove(path)
    return ""


def save(name: str, code: str) -> None:
    root = os.path.realpath(os.getcwd())
    path = os.path.realpath(os.path.join(root, name))
    if not path.startswith(os.path.join(root, "")):
        sys.exit(f"{name!r} is not inside the working directory; nothing was saved or run")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(code)
    except (OSError, ValueError) as error:
        sys.exit(str(error))


def shell(program: str, code: str) -> None:
    process = subprocess.Popen(  # noqa: S603  # running the model's code is the purpose
        [shutil.which(program) or "sh", "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        _forward_output(process)
    except BaseException:
        _end_process(process)
        raise
    if process.returncode:
        sys.exit(process.returncode if process.returncode > 0 else 128 - process.returncode)


def _forward_output(process: "subprocess.Popen[bytes]") -> None:
    import codecs
    import select

    assert process.stdout is not None
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    number = process.stdout.fileno()
    ended = False
    while not ended:
        ended = process.poll() is not None
        # A background process may keep the pipe open after the shell has ended.
        if select.select([number], [], [], 0 if ended else 0.05)[0]:
            data = os.read(number, 2**16)
            sys.stdout.write(decoder.decode(data))
            ended = not data
    process.wait()
    sys.stdout.write(decoder.decode(b"", final=True))
    process.stdout.close()


def _end_process(process: "subprocess.Popen[bytes]") -> None:
    for number in (signal.SIGINT, signal.SIGKILL):
        with suppress(OSError, subprocess.TimeoutExpired):
            os.killpg(process.pid, number)
            process.wait(timeout=1)
            return
