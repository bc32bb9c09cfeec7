"""Where a Chromium is on this machine, and how it is started."""

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

ARGUMENTS = (
    "--no-sandbox",  # Chromium refuses to start its sandbox as root, and every page here is our own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # the browser's part of "no network"
)

MISSING = (
    "no Chromium on the PATH, and CHROMIUM names none "
    "(Debian: apt-get install chromium fonts-dejavu-core fonts-liberation)"
)


def executable() -> str | None:
    found = (shutil.which(name) for name in (os.environ.get("CHROMIUM") or None, *NAMES) if name)
    return next((path for path in found if path), None)
