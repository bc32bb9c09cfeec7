"""Which certificates are trusted: the file that was given, those that the environment names, or the system's.

A file or folder that is named stands in place of the system's store, as it does for curl and OpenSSL.
"""

import os
import ssl
import sys
from pathlib import Path

from autogen_nb.errors import ConfigError

_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


def context_for(ca_bundle: str | os.PathLike[str] | None = None) -> ssl.SSLContext:
    """How servers are made to prove who they are."""
    if ca_bundle is not None:
        return _trusting(ca_bundle, "ca_bundle", folder=False)
    for name in _VARIABLES:
        if value := os.environ.get(name):
            return _trusting(value, name, folder=True)
    return _systems()


def _trusting(given: str | os.PathLike[str], what: str, *, folder: bool) -> ssl.SSLContext:
    # OpenSSL takes several folders as one text.
    if folder and any(Path(part).is_dir() for part in str(given).split(os.pathsep)):
        return ssl.create_default_context(capath=str(given))
    try:
        path = Path(given).expanduser()
        return ssl.create_default_context(cafile=str(path))
    except ssl.SSLError:
        reason = "holds no certificates in PEM form"
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except (TypeError, ValueError, RuntimeError):
        reason = "is no path"
    raise ConfigError(f"{what} {str(given)!r} {reason}; name a file of trusted certificates, in PEM form")


def _systems() -> ssl.SSLContext:
    # OpenSSL reads the store of Linux itself, if it was built for where the store is.
    if sys.platform not in ("win32", "darwin") and ssl.get_default_verify_paths().cafile:
        return ssl.create_default_context()
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
