"""Shows the figures of matplotlib's backends without a window, such as Agg, as the inline backend shows its own."""

import sys
from typing import Any


def install(shell: Any) -> None:
    def show_open_figures(*_: Any) -> None:
        manager = sys.modules.get("matplotlib.backend_bases")
        if manager is not None and not _is_inline():
            for each in _open_managers():
                # Backends with windows, or with pages of their own, have managers of other classes.
                if type(each) is manager.FigureManagerBase:
                    _show(each)

    def adopt(*_: Any) -> None:
        module = sys.modules.get("matplotlib.backend_bases")
        if module is not None:
            # matplotlib's own method warns that there is no window, and shows nothing.
            module.FigureManagerBase.show = _show

    def _show(manager: Any) -> None:
        from IPython.core.pylabtools import select_figure_formats
        from IPython.display import display
        from matplotlib.figure import Figure

        if Figure not in shell.display_formatter.formatters["image/png"].type_printers:
            select_figure_formats(shell, {"png"})
        display(manager.canvas.figure)
        sys.modules["matplotlib.pyplot"].close(manager.canvas.figure)

    shell.events.register("pre_run_cell", adopt)
    shell.events.register("post_execute", show_open_figures)


def _is_inline() -> bool:
    return "inline" in str(sys.modules["matplotlib"].get_backend()).lower()


def _open_managers() -> list[Any]:
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    return list(helpers.Gcf.get_all_fig_managers()) if helpers is not None else []
