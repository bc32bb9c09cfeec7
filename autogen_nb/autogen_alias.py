"""Makes `import autogen` give this package."""

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any

from autogen_nb.errors import ConfigError

_NAME = "autogen"
_PACKAGE = __name__.partition(".")[0]


class _Alias(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        del path, target
        return spec_from_loader(fullname, self) if fullname.partition(".")[0] == _NAME else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        try:
            module = importlib.import_module(_PACKAGE + spec.name.removeprefix(_NAME))
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith(_PACKAGE):
                raise
            raise ModuleNotFoundError(f"autogen_nb has no module {spec.name!r}", name=spec.name) from None
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has set the spec of the alias.
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def install_as_autogen() -> None:
    """Makes ``import autogen`` and its submodules give this package's modules, in this process.

    Raises
    ------
    ConfigError
        If another ``autogen`` is imported already.
    """
    package = sys.modules[_PACKAGE]
    if sys.modules.get(_NAME, package) is not package:
        raise ConfigError("another package named autogen is imported already; call install_as_autogen() before that")
    if not any(isinstance(finder, _Alias) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Alias())
