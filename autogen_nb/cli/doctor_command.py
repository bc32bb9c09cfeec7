"""``autogen-nb doctor``: reports the state of the installation, and how to repair it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import groupby

import click

from autogen_nb.cli import doctor_checks, exit_codes
from autogen_nb.cli.doctor_checks import CHECKS, Finding
from autogen_nb.core.text.visible_text import visible
from autogen_nb.models.config.local_servers import LocalServers

_MARKS = {"ok": "ok  ", "note": "note", "broken": "MEND"}


@click.command(
    short_help="Checks the installation, and says how to repair it.",
    epilog="Exit code 0 if chats can work here, 1 if something must be repaired first.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--probe", is_flag=True, help="Also look for models on this machine's usual ports.")
def doctor(*, as_json: bool, probe: bool) -> int:
    """Reports the state of the installation, sandboxes, models and front ends, with a repair for each problem.

    It contacts no host and shows no key.
    """
    more = (_this_machine,) if probe else ()
    findings = [finding for check in (*CHECKS, *more) for finding in _run_check(check)]
    broken = [finding for finding in findings if finding.state == "broken"]
    if as_json:
        click.echo(json.dumps({"ok": not broken, "findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        for area, findings_of_area in groupby(findings, key=lambda finding: finding.area):
            click.echo(f"{area}")
            for finding in findings_of_area:
                click.echo(_line(finding))
        click.echo(f"\n{len(broken)} to repair." if broken else "\nChats can work here.")
    return exit_codes.FAILED if broken else exit_codes.ANSWERED


def _this_machine() -> Iterator[Finding]:
    return doctor_checks.probe(LocalServers())


def _run_check(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from check()
    # The report must include unexpected errors too.
    except Exception as error:  # noqa: BLE001 - see above
        area = check.__name__.strip("_").replace("_", " ")
        yield Finding(area, area, "broken", f"could not be checked: {type(error).__name__}: {error}")


def _line(finding: Finding) -> str:
    repair = f"\n             {finding.mend}" if finding.mend else ""
    return visible(f"  {_MARKS[finding.state]}  {finding.name}: {finding.text}{repair}")
