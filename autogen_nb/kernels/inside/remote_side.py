"""Reads and writes files, and runs shell blocks, in a kernel on another machine.

An execute request calls a function in `user_expressions`, so its result is in the reply.
"""

import atexit
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile


def make() -> str:
    """Creates a private folder, and removes those of killed kernels."""
    try:
        import fcntl
    except ImportError:
        return _remove_at_exit(tempfile.mkdtemp(prefix="agn-"))
    # `private_folders` uses the same names and locks, so each of the two removes the other's abandoned folders.
    prefix = f"agn-{os.getuid()}-"
    while True:
        private_folder = tempfile.mkdtemp(prefix=prefix)
        try:
            # The lock stays until the kernel ends, since nothing closes the descriptor.
            fcntl.flock(os.open(private_folder, os.O_RDONLY | os.O_NOFOLLOW), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (FileNotFoundError, BlockingIOError):
            # Another kernel has just removed the unlocked folder.
            continue
        except OSError:
            # The file system has no locks.
            pass
        if os.path.isdir(private_folder):
            break
    for entry in list(os.scandir(tempfile.gettempdir())):
        if entry.name.startswith(prefix) and entry.path != private_folder:
            _remove_if_abandoned(entry.path)
    return _remove_at_exit(private_folder)


def _remove_at_exit(private_folder: str) -> str:
    atexit.register(shutil.rmtree, private_folder, True)
    return private_folder


def _remove_if_abandoned(path: str) -> None:
    import fcntl

    try:
        number = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(number).st_uid == os.getuid():
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        pass
    finally:
        os.close(number)


def folder(path: str) -> str:
    os.makedirs(path, mode=0o700, exist_ok=True)
    return ""


def write(path: str, data: str) -> str:
    """Appends bytes in base64 to a file; creates the file and its folder if necessary."""
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
    try:
        if not path.startswith(os.path.join(root, "")):
            raise ValueError(  # noqa: TRY301 - reported below, like an OSError
                f"{name!r} is not inside the working directory; nothing was saved or run"
            )
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(code)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)


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
    while True:
        ended = process.poll() is not None
        # A background process may keep the pipe open after the shell has ended.
        if select.select([number], [], [], 0 if ended else 0.05)[0]:
            data = os.read(number, 2**16)
            sys.stdout.write(decoder.decode(data))
            ended = not data
        if ended:
            break
    process.wait()
    sys.stdout.write(decoder.decode(b"", final=True))
    process.stdout.close()


def _end_process(process: "subprocess.Popen[bytes]") -> None:
    for number in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=1)
        except (OSError, subprocess.TimeoutExpired):
            continue
        else:
            return
