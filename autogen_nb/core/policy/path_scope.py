"""Classifies paths by their text; does not read the disk, and so does not follow links."""

import posixpath
import re
from dataclasses import dataclass
from typing import Literal

_DRIVE = re.compile(r"[A-Za-z]:")
_ROOT = re.compile("^/+")
_SECRET = re.compile(
    r"""(?ix)
    .*\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|gpg|asc|ovpn|env)
    | env | id_(rsa|dsa|ecdsa|ed25519)(\.pub)? | _?netrc | pgpass | htpasswd | authorized_keys | known_hosts
    | (aws_?|gcloud_?|google_?|db_?)?credentials?(\.\w+)? | (client_)?secrets?([._-].*)?\.?\w* | passwords?(\.\w+)?
    | service_?account.*\.json | (access_|api_|auth_)?tokens?(\.(json|txt|ya?ml))? | api_?keys?(\.\w+)?
    | oai_config_list(\.\w+)?
    """
)


@dataclass(frozen=True, slots=True)
class PathScope:
    folder: str = ""
    own: str = ""
    home: str = ""
    private_temporary: bool = False

    def where(self, path: str) -> Literal["own", "below", "private", "elsewhere"]:
        """The class of a path; below the notebook's `folder`, a hidden or secret-looking name makes it "private"."""
        full = self.full(path)
        if full is None:
            return "elsewhere"
        if self.own and _within(full, self.own) is not None:
            return "own"
        inner = _within(full, self.folder)
        if inner is None:
            return "elsewhere"
        hidden = (name != "." and (name.startswith(".") or _SECRET.fullmatch(name)) for name in inner.split("/"))
        return "private" if any(hidden) else "below"

    def full(self, path: str) -> str | None:
        """The absolute path, or a relative path if `folder` is unknown; None if the path cannot be resolved."""
        known = next((each for each in (self.own, self.folder, self.home) if each and _within(path, each)), "")
        # Keeps the backslashes of a known folder, which are ordinary characters in POSIX.
        path = path[: len(known)] + path[len(known) :].replace("\\", "/")
        if not path or _DRIVE.match(path) or "\0" in path:
            return None
        if path.startswith("~"):
            name, _, rest = path[1:].partition("/")
            if name or not self.home:
                return None
            path = f"{self.home}/{rest}"
        # `normpath` keeps two leading slashes, which the system treats as one.
        return _ROOT.sub("/", posixpath.normpath(posixpath.join(self.folder, path)))


def _within(path: str, folder: str) -> str | None:
    if not folder:
        return None if path.startswith(("/", "../")) or path == ".." else path
    folder = posixpath.normpath(folder)
    if path == folder:
        return "."
    return path.removeprefix(f"{folder.rstrip('/')}/") if path.startswith(f"{folder.rstrip('/')}/") else None
