"""The trusted certificates: from the `ca_bundle` setting, from the environment's file or folder, or the system's.

A file or folder replaces the system's store, as in curl and OpenSSL.
"""

import os
import ssl
import sys
from pathlib import Path

from autogen_nb.errors import ConfigError

_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


def context_for(ca_bundle: str | os.PathLike[str] | None = None) -> ssl.SSLContext:
    if ca_bundle is not None:
        return _trusting(ca_bundle, "ca_bundle", folder=False)
    for name in _VARIABLES:
        if value := os.environ.get(name):
            return _trusting(value, name, folder=True)
    return _system_store()


def _trusting(location: str | os.PathLike[str], what: str, *, folder: bool) -> ssl.SSLContext:
    # OpenSSL takes a list of folders as one string.
    if folder and any(Path(part).is_dir() for part in str(location).split(os.pathsep)):
        return ssl.create_default_context(capath=str(location))
    try:
        path = Path(location).expanduser()
        return ssl.create_default_context(cafile=str(path))
    except ssl.SSLError:
        reason = "holds no certificates in PEM form"
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except (TypeError, ValueError, RuntimeError):
        reason = "is no path"
    raise ConfigError(f"{what} {str(location)!r} {reason}; name a file of trusted certificates, in PEM form")


def _system_store() -> ssl.SSLContext:
    # On Linux OpenSSL reads the system's store, if it was built with the store's path.
    if sys.platform not in ("win32", "darwin") and ssl.get_default_verify_paths().cafile:
        return ssl.create_default_context()
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
