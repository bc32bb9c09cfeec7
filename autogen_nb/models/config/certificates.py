"""The certificates that verify a model's server."""

import os
import ssl
from os import PathLike
from pathlib import Path

from autogen_nb.errors import ConfigError

_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


def trusted_certificates(ca_bundle: str | PathLike[str] | None = None) -> ssl.SSLContext:
    """The TLS context with the certificates of `ca_bundle`, else of the environment, else of the system."""
    sources = {"ca_bundle": ca_bundle, **{name: os.environ.get(name) for name in _VARIABLES}}
    name, location = next(((name, each) for name, each in sources.items() if each), ("", None))
    if location is None:
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # OpenSSL accepts several folders in one string.
    if name != "ca_bundle" and any(Path(part).is_dir() for part in str(location).split(os.pathsep)):
        return ssl.create_default_context(capath=str(location))
    try:
        return ssl.create_default_context(cafile=str(Path(location).expanduser()))
    except ssl.SSLError:
        reason = "holds no certificates in PEM form"
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    raise ConfigError(f"{name} {str(location)!r} {reason}; name a file of trusted certificates, in PEM form")
