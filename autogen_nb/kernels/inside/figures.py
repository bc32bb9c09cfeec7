"""Shows the figures of matplotlib's backends without a window, such as Agg, as the inline backend shows its own."""

import sys
from importlib import import_module
from importlib.util import find_spec, spec_from_file_location
from types import SimpleNamespace
from typing import Any

# These need scripts or a server, which outputs do not have.
_PAGES = ("matplotlib.backends.backend_nbagg", "matplotlib.backends.backend_webagg")


def install(shell: Any) -> None:
    def show_open_figures(*_: Any) -> None:
        bases, helpers = map(sys.modules.get, ("matplotlib.backend_bases", "matplotlib._pylab_helpers"))
        if bases and helpers and "inline" not in str(sys.modules["matplotlib"].get_backend()).lower():
            for manager in helpers.Gcf.get_all_fig_managers():
                # Backends with windows have managers of other classes.
                if type(manager) is bases.FigureManagerBase:
                    _show(manager)

    shell.display_formatter.formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", _draw)
    shell.events.register("post_execute", show_open_figures)
    sys.meta_path.insert(0, SimpleNamespace(find_spec=_find_spec))


def _find_spec(name: str, *_: Any) -> Any:
    if name == "matplotlib.pyplot":
        # matplotlib's own method warns that there is no window, and shows nothing.
        import_module("matplotlib.backend_bases").FigureManagerBase.show = _show
    if name in _PAGES and (agg := find_spec("matplotlib.backends.backend_agg")) is not None:
        return spec_from_file_location(name, agg.origin)
    return None


def _show(manager: Any) -> None:
    from IPython.display import display

    display(manager.canvas.figure)
    sys.modules["matplotlib.pyplot"].close(manager.canvas.figure)


def _draw(figure: Any) -> Any:
    from IPython.core.pylabtools import print_figure

    return print_figure(figure, "png", base64=True)
