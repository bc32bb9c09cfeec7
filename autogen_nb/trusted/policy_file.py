"""The organisation's policy on disk, read each time that something is about to depend on it.

A file that cannot be trusted or read stops everything: to pass it over would loosen what it lays down.
"""

from pathlib import Path

from autogen_nb.core.policy.organisation_policy import NO_POLICY, OrganisationPolicy, parse
from autogen_nb.errors import ConfigError
from autogen_nb.trusted import owned_files

_PATH = Path("/etc/autogen_nb/policy.toml")
_ROOT = frozenset({0})


class PolicyFile:
    """The file of an organisation's policy.

    Parameters
    ----------
    path
        Where it lies.
    owners
        Numbers of the users to whom it may belong.
    """

    def __init__(self, path: Path = _PATH, owners: frozenset[int] = _ROOT) -> None:
        self._path = path
        self._owners = owners

    def policy(self) -> OrganisationPolicy:
        """The policy as it is now; one that asks for nothing where there is no file.

        Raises
        ------
        ConfigError
            When there is a file that cannot be used; nothing may run then.
        """
        try:
            text = owned_files.read(self._path, self._owners)
        except ConfigError as error:
            raise self._refused(error) from None
        if text is None:
            return NO_POLICY
        try:
            return parse(text)
        except ConfigError as error:
            raise self._refused(f"{str(self._path)!r}: {error}") from None

    @staticmethod
    def _refused(why: object) -> ConfigError:
        return ConfigError(f"nothing runs, since your organisation's policy cannot be used: {why}")


_file = PolicyFile()


def policy() -> OrganisationPolicy:
    """The policy of this machine; the errors are those of `PolicyFile.policy`."""
    return _file.policy()
