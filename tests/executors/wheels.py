"""Packages to be installed where there is no index."""

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType


def wheel(folder: Path, name: str, more: Mapping[str, str] = MappingProxyType({})) -> Path:
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": "value = 'from the wheel'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        **more,
    }
    record = ""
    for inner, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{inner},sha256={digest},{len(text)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inner, text in files.items():
            archive.writestr(inner, text)
    return path
