"""JavaScript libraries of charts, as Python packages in the notebook's environment ship them.

Nothing is downloaded, and nothing is taken from the agent's kernel.
"""

import base64
import gzip
import importlib.metadata
import json
import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

# Simple markers instead of folium's icons, whose library is in no Python package.
_LEAFLET_MARKS = """
L.AwesomeMarkers = {icon: ({markerColor = "blue"} = {}) => L.divIcon({className: "", iconAnchor: [9, 9], html:
`<i style="display:block;width:14px;height:14px;border:2px solid #fff;border-radius:50%;box-shadow:0 0 3px #000;
background:${markerColor}"></i>`})};
L.Marker.prototype.options.icon = L.AwesomeMarkers.icon();
"""
# Removes the menu, which opens windows and saves files: the sandbox of a frame forbids both.
_VEGA_OPTIONS = """
window.vegaEmbed = ((embed) => (element, spec, options) => embed(element, spec,
{...autogenNbTheme === "dark" && {theme: "dark"}, ...options, actions: false}))(window.vegaEmbed);
"""
_STYLE = "document.head.append(Object.assign(document.createElement('style'), {{textContent: {}}}));"
_ADDRESS = re.compile(r"https?://[^\s\"'<>()]{1,300}")


@dataclass(frozen=True, slots=True)
class Library:
    """A library, and the distribution that ships it.

    Pages load it from addresses that contain the pattern `address`. `files` are patterns below import packages,
    `needs` names libraries that come before it, and `extension` is a script of ours that follows it.
    """

    name: str
    distribution: str
    files: tuple[str, ...]
    address: str
    needs: tuple[str, ...] = ()
    extension: str = ""

    @property
    def version(self) -> str:
        """The version of the distribution; "" if it is not installed."""
        with suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(self.distribution)
        return ""

    @property
    def key(self) -> str:
        return f"{self.name}-{self.version}"

    def pack(self) -> str:
        """The library as `pack` writes it; its text does not end a script element."""
        return pack("\n".join([*self._texts(), self.extension]).replace("</script", r"<\/script"))

    def _texts(self) -> Iterator[str]:
        if self.name == "vega":
            from vl_convert import javascript_bundle

            yield javascript_bundle()  # type: ignore[call-arg]  # optional, but required in the stub
        for pattern in self.files:
            package, _, inside = pattern.partition("/")
            spec = find_spec(package)
            for folder in (spec.submodule_search_locations or ()) if spec else ():
                for file in sorted(Path(folder).glob(inside)):
                    text = file.read_text("utf-8")
                    yield _STYLE.format(json.dumps(text)) if file.suffix == ".css" else text


_ALL = (
    Library("plotly", "plotly", ("plotly/package_data/plotly.min.js",), r"plotly[-.\w]*\.js"),
    Library("vega", "vl-convert-python", (), r"[/@]vega(-lite|-embed)?(@|[-.\w]*\.js)", extension=_VEGA_OPTIONS),
    Library(
        "bokeh",
        "bokeh",
        tuple(f"bokeh/server/static/js/bokeh{part}.min.js" for part in ("", "-widgets", "-tables", "-gl")),
        r"bokeh[-.\w]*\.js",
    ),
    Library("panel", "panel", ("panel/dist/panel.min.js",), r"/panel[-.\w]*\.js", needs=("bokeh",)),
    Library(
        "leaflet",
        "XStatic-Leaflet",
        ("xstatic/pkg/leaflet/data/leaflet.css", "xstatic/pkg/leaflet/data/leaflet.js"),
        r"/leaflet(@|\.js)",
        extension=_LEAFLET_MARKS,
    ),
    Library(
        "vis-network",
        "pyvis",
        ("pyvis/lib/vis-9.1*/vis-network.css", "pyvis/lib/vis-9.1*/vis-network.min.js"),
        r"vis-network[-.\w]*\.js",
    ),
    Library("echarts", "panel", ("panel/dist/bundled/echarts/echarts@*/dist/echarts.min.js",), r"/echarts(@|\.min)"),
)
LIBRARIES = {library.name: library for library in _ALL}


def named_in(html: str) -> tuple[str, ...]:
    """The libraries whose addresses a page names, each after those that it needs."""
    addresses = "\n".join(_ADDRESS.findall(html))
    loaded = [library for library in _ALL if re.search(library.address, addresses)]
    return tuple(dict.fromkeys(name for library in loaded for name in (*library.needs, library.name)))


def pack(text: str) -> str:
    """The text as base64 of a gzip file, which the frames' scripts read."""
    return base64.b64encode(gzip.compress(text.encode(errors="replace"), mtime=0)).decode()


_threads = ThreadPoolExecutor(1, "autogen_nb-libraries")


@cache
def load(name: str) -> "Future[str]":
    """A packed library; runs in a thread, since packing a library takes up to two seconds."""
    return _threads.submit(_read, LIBRARIES[name])


def _read(library: Library) -> str:
    try:
        return library.pack()
    except Exception as error:  # noqa: BLE001  # a broken installation must not end the chat
        return pack(f"document.body.append({json.dumps(f'{library.distribution} cannot be read: {error}')});")
