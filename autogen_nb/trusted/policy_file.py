"""Reads the organisation's policy; an invalid file is an error, because ignoring it would lift its restrictions."""

from pathlib import Path

from autogen_nb.core.policy.organisation_policy import NO_POLICY, OrganisationPolicy, parse
from autogen_nb.errors import ConfigError
from autogen_nb.trusted import owned_files

PATH = Path("/etc/autogen_nb/policy.toml")
OWNERS = frozenset({0})  # root


def policy() -> OrganisationPolicy:
    prefix = ""
    try:
        text = owned_files.read(PATH, OWNERS)
        prefix = f"{str(PATH)!r}: "
        return NO_POLICY if text is None else parse(text)
    except ConfigError as error:
        raise ConfigError(f"nothing runs, since your organisation's policy cannot be used: {prefix}{error}") from None
