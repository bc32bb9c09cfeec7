"""The organisation's policy on disk, read each time that something is about to depend on it.

A file that cannot be trusted or read stops everything: to pass it over would loosen what it lays down.
"""

from pathlib import Path

from autogen_nb.core.policy.organisation_policy import NO_POLICY, OrganisationPolicy, parse
from autogen_nb.errors import ConfigError
from autogen_nb.trusted import owned_files

PATH = Path("/etc/autogen_nb/policy.toml")
OWNERS = frozenset({0})
"""Numbers of the users to whom the file may belong."""


def policy() -> OrganisationPolicy:
    """The policy of this machine as it is now; one that asks for nothing where there is no file."""
    named = ""
    try:
        text = owned_files.read(PATH, OWNERS)
        named = f"{str(PATH)!r}: "
        return NO_POLICY if text is None else parse(text)
    except ConfigError as error:
        raise ConfigError(f"nothing runs, since your organisation's policy cannot be used: {named}{error}") from None
