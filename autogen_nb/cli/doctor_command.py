"""``autogen-nb doctor``: reports the state of the installation, and how to repair it."""

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path

import click

from autogen_nb._version import __version__
from autogen_nb.cli import exit_codes
from autogen_nb.cli.program_check import Finding, check_program
from autogen_nb.core.policy.organisation_policy import SANDBOXES
from autogen_nb.core.text.visible_text import visible
from autogen_nb.engine import engine
from autogen_nb.errors import AutogenError
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.human.rule_based_approver import RulesFile
from autogen_nb.kernels.places.place import Place
from autogen_nb.models.config import model_selection
from autogen_nb.models.config.config_list import LIST
from autogen_nb.models.config.providers import PROVIDERS, host_of
from autogen_nb.trusted import policy_file

_PIP = f"{sys.executable} -m pip install"
_MARKS = {"ok": "ok  ", "note": "note", "broken": "FAIL"}
_OPTIONAL = {
    "data": "the built-in analysis (-m offline), tables and the demo",
    "docker": "--sandbox docker and the Docker executors",
    "anthropic": "Claude by the API of Anthropic",
    "gemini": "Gemini by the API of Google",
    "azure": "tokens of Microsoft Entra for models on Azure",
    "pictures": "smaller plots for models that accept images",
}


@click.command(
    short_help="Checks the installation, or programs for AutoGen, and says how to repair them.",
    epilog="Exit code 0 if chats can work here, or all programs can run, and 1 if something must be repaired first.",
)
@click.argument("programs", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(*, programs: Sequence[Path], as_json: bool) -> int:
    """Reports the state of the installation, libraries, sandboxes and models, and how to repair problems.

    With PROGRAMS for AutoGen or AG2, Python files or notebooks, reports instead which of their imports, names and
    arguments exist here, which differ, and what to use for the others. The programs do not run.

    The command contacts no host and shows no key.
    """
    findings = {str(path): check_program(path) for path in programs}
    findings = findings or {area: list(findings_of(area, *check)) for area, check in CHECKS.items()}
    broken = sum(finding.state == "broken" for area in findings.values() for finding in area)
    if as_json:
        rows = [{"area": area, **finding._asdict()} for area, found in findings.items() for finding in found]
        click.echo(json.dumps({"ok": not broken, "findings": rows}, indent=2))
    elif programs:
        for summary, *found in findings.values():
            click.echo(visible(f"{summary.name}: {summary.text}"))
            for name, state, text, way in found:
                click.echo(visible(f"  {_MARKS[state]}  {name}: {text}{way and '; '}{way}"))
    else:
        for area, found in findings.items():
            click.echo(area)
            for name, state, text, mend in found:
                repair = f"\n{' ' * 13}{mend}" if mend else ""
                click.echo(visible(f"  {_MARKS[state]}  {name}: {text}{repair}"))
        click.echo(f"\n{broken} to repair." if broken else "\nChats can work here.")
    return exit_codes.FAILED if broken else exit_codes.ANSWERED


def findings_of(area: str, check: Callable[[], Iterable[Finding]], mend: str) -> Iterator[Finding]:
    """The findings of a check; an exception in the check becomes a finding, too."""
    try:
        yield from check()
    except AutogenError as error:
        yield Finding(area, "broken", str(error), mend)
    except Exception as error:  # noqa: BLE001 - the report must include unexpected errors, too
        yield Finding(area, "broken", f"could not be checked: {type(error).__name__}: {error}")


def _libraries() -> Iterator[Finding]:
    yield Finding("autogen_nb", "ok", f"version {__version__}, in Python {sys.version.split()[0]} at {sys.executable}")
    for text in metadata.requires("autogen-nb") or []:
        [(name, least, extra)] = re.findall(r"^([\w.-]+)(?:.*?>=\s*([\d.]+))?(?:.*extra\s*==\s*['\"]([\w-]+))?", text)
        version = _version(name)
        if extra and extra not in _OPTIONAL:
            continue
        if version and _numbers(version) >= _numbers(least):
            yield Finding(name, "ok", version)
            continue
        what = f"{version} is too old" if version else "is not installed"
        use = f"; it is for {_OPTIONAL[extra]}" if extra else ""
        mend = f"{_PIP} {'-U ' if version else ''}'{name}>={least or 0}'"
        yield Finding(name, "note" if extra else "broken", what + use, mend)


def _kernel() -> Iterator[Finding]:
    with tempfile.TemporaryDirectory(prefix="autogen-nb-") as folder:
        executor = BlockExecutor(cwd=folder)
        start = time.monotonic()
        try:
            engine.call(executor.start())
            yield Finding("agent's kernel", "ok", f"starts in {time.monotonic() - start:.1f} s")
            if reason := executor.why_no_guard:
                asked = "code that may do more than compute is asked about before it runs"
                yield Finding("guard", "note", f"no guard here: {reason}; {asked}")
            else:
                yield Finding("guard", "ok", "code waits at the system call while you are asked")
        finally:
            engine.call(executor.stop())


def _sandboxes() -> Iterator[Finding]:
    none, *sandboxes = SANDBOXES
    yield Finding(none, "ok", f"the default: code has your rights; --sandbox {' or '.join(sandboxes)} restricts it")
    for name in sandboxes:
        try:
            # `check` rejects the home folder, and the command may run there.
            with tempfile.TemporaryDirectory(prefix="autogen-nb-") as folder:
                Place(name).check(Path(folder))
            yield Finding(name, "ok", f"--sandbox {name} is available")
        except AutogenError as error:
            what, _, mend = str(error).partition(": ")
            yield Finding(name, "note", what, mend)


def models() -> Iterator[Finding]:
    """Lists the configured models, without contacting their servers."""
    mend = "" if _version("pandas") else f"{_PIP} 'autogen-nb[data]'"
    yield Finding("offline", "note" if mend else "ok", "a fixed analysis of tables; connects to no host", mend)
    for provider in PROVIDERS:
        if variable := provider.key()[0]:
            yield Finding(provider.name, "ok", f"the key in {variable} is sent to {host_of(provider.address())} only")
    if model_selection.choose(None, None, os.environ) is None:
        mend = f"{model_selection.WAYS}, or write an {LIST}; %autogen models lists servers on this machine"
        yield Finding("none", "note", "no model is configured; the first cell asks for one", mend)
    for model in model_selection.known_models(None, os.environ):
        text = f"{model.source}; connects to {', '.join(model.hosts) or 'no host'}"
        yield Finding(model.name or "without a name", "ok", text)


def _version(name: str) -> str:
    return next((distribution.version for distribution in metadata.distributions(name=name)), "")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


CHECKS: dict[str, tuple[Callable[[], Iterable[Finding]], str]] = {
    "libraries": (_libraries, ""),
    "kernel": (_kernel, f"{_PIP} -U ipykernel jupyter_client"),
    "sandboxes": (_sandboxes, ""),
    "models": (models, f"repair or remove {LIST}"),
    "policy": (
        lambda: [Finding("organisation", "ok", policy_file.policy().text or "this machine has no policy")],
        "ask the administrator of this machine",
    ),
    "rules": (
        lambda: [Finding("your rules", "ok", f"{len(RulesFile().rules())}; %autogen rules lists them")],
        "repair or remove the file",
    ),
}
"""The check of each area, and the repair to suggest if the check raises an `AutogenError`."""
