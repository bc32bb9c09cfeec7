"""Draws who speaks after whom in a team: an SVG for notebooks, and lines of text for terminals."""

import linecache
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise
from statistics import fmean
from typing import Any, Literal, NamedTuple

from autogen_nb.core.text.visible_text import visible

_MOST_NODES, _MOST_PLACES, _LONGEST, _APART, _ROUNDS = 300, 6_000, 36, 14, 40
_STYLE = "display:block;color:var(--jp-content-font-color1,inherit);font:13px var(--jp-ui-font-family,sans-serif)"
_BOXES = {
    "member": "fill:rgba(128,128,128,.1);stroke:rgba(128,128,128,.7);rx:4px",
    "outside": "fill:none;stroke:rgba(128,128,128,.9);stroke-dasharray:4 3;rx:4px",
    "chooser": "fill:none;stroke:var(--jp-brand-color1,#2a7fd4);stroke-width:1.5;rx:15px",
}


class Node(NamedTuple):
    name: str
    kind: Literal["member", "outside", "chooser", "text"] = "member"


class Arrow(NamedTuple):
    source: Node
    target: Node
    label: str = ""


START = Node("start", "text")


class Drawing(NamedTuple):
    """Nodes, the first one on top, and the arrows between them."""

    nodes: Sequence[Node]
    arrows: Sequence[Arrow]

    def text(self) -> str:
        """Lines such as ``a -> b, c (label)``."""
        targets: dict[str, list[str]] = {}
        for source, target, label in dict.fromkeys(self.arrows):
            after = _one_line(f"{target.name} ({label})" if label else target.name)
            targets.setdefault(_one_line(source.name), []).append(after)
        return "\n".join(f"{name} -> {', '.join(after)}" for name, after in targets.items())

    def html(self) -> str:
        """An SVG; the text if the SVG would be too large."""
        text = escape(self.text())
        content = _svg(self, text) if len(self.nodes) <= _MOST_NODES else ""
        # With these classes, MathJax leaves dollars alone.
        style = 'class="mathjax_ignore tex2jax_ignore" style="overflow-x:auto"'
        return f"<div {style}>{content or f'<pre>{text}</pre>'}</div>"


class Drawn:
    """The base class of what a notebook draws as the last line of a cell."""

    def _drawing(self) -> Drawing:
        """Who speaks after whom."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self._drawing().html()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        del cycle
        printer.text(self._drawing().text())


def in_turn(nodes: Sequence[Node], *, start: bool) -> Drawing:
    arrows = [Arrow(START, nodes[0])] * start + list(map(Arrow, nodes, [*nodes[1:], nodes[0]]))
    return Drawing([START] * start + list(nodes), arrows)


def chosen_by(chooser: Node, nodes: Sequence[Node]) -> Drawing:
    pairs = [(node, chooser) if number < len(nodes) // 2 else (chooser, node) for number, node in enumerate(nodes)]
    return Drawing([chooser, *nodes], [Arrow(*ends) for pair in pairs for ends in (pair, pair[::-1])])


def function_label(function: Any) -> str:
    """The name of a function; for a lambda, its code if its source is known."""
    name = str(getattr(function, "__name__", type(function).__name__))
    spans = [span for span in function.__code__.co_positions() if span[3]] if name == "<lambda>" else []
    if not spans:
        return name
    (first, begin), (last, end) = min((span[0], span[2]) for span in spans), max((span[1], span[3]) for span in spans)
    lines = [line.encode() for line in linecache.getlines(function.__code__.co_filename)[first - 1 : last]]
    return b"".join([*lines[:-1], *(line[:end] for line in lines[-1:])])[begin:].decode(errors="replace") or name


class _Place:
    """The place of a node or a label, or of a line that passes a row."""

    def __init__(self, node: Node, text: str, lines: int = 0) -> None:
        self.kind, self.text = node.kind, text
        self.half = max(_width(text), 4 * lines) / 2 + (12 if node.kind in _BOXES else 4)
        self.height = 30.0 if node.kind in _BOXES else 18.0 if text else 0.0
        self.x = self.y = 0.0
        self.near: list[list[_Place]] = [[], []]  # above, and below

    def end(self, other: "_Place") -> tuple[float, float]:
        """Where a line to another place begins: at the side of the other place."""
        reach = max(0, self.half - 8) if self.kind in _BOXES else 0
        x = self.x + min(reach, max(-reach, (other.x - self.x) / 4))
        return x, self.y + math.copysign(self.height / 2, other.y - self.y)


def _lay_out(drawing: Drawing) -> tuple[list[list[_Place]], dict[Arrow, list[_Place]]]:
    """Rows of places from the top, none if they would be too many, and the places of each line.

    If there are labels, they have rows between those of nodes. A line has a place in each row that it passes, so it
    crosses no node and no label. One that closes a loop goes up; an arrow and its opposite are one line.
    """
    lines: dict[Arrow, list[_Place]] = {}
    for arrow in drawing.arrows:
        if arrow.source != arrow.target and _opposite(arrow) not in lines:
            lines[arrow] = []
    levels = _levels(drawing.nodes, lines, 2 if any(arrow.label for arrow in lines) else 1)
    if sum(abs(levels[source] - levels[target]) for source, target, _ in lines) > _MOST_PLACES:
        return [], {}
    loops = {arrow.source: f" \u21bb {arrow.label}" for arrow in drawing.arrows if arrow.source == arrow.target}
    ends = Counter(end for arrow in lines for end in arrow[:2])
    places = {node: _Place(node, node.name + loops.get(node, ""), ends[node]) for node in drawing.nodes}
    rows: list[list[_Place]] = [[] for _ in range(max(levels.values()) + 1)]
    for node, place in places.items():
        rows[levels[node]].append(place)
    for (source, target, label), line in lines.items():
        step = 1 if levels[source] < levels[target] else -1
        line.append(places[source])
        for row in rows[levels[source] + step : levels[target] : step]:
            line.append(_Place(START, label if len(line) == 1 else ""))
            row.append(line[-1])
        line.append(places[target])
        for lower, upper in pairwise(line[::step]):
            upper.near[1].append(lower)
            lower.near[0].append(upper)
    for number in range(_ROUNDS):
        side = number % 2
        for row in rows[:: 1 if side else -1]:
            _arrange(row, slice(side, side + 1) if number < _ROUNDS / 2 else slice(2))
    return rows[::-1], lines


def _levels(nodes: Iterable[Node], arrows: Iterable[Arrow], step: int) -> dict[Node, int]:
    """The level of each node, from below, in steps; only arrows that close loops lead up."""
    levels: dict[Node, int] = {}

    def visit(node: Node) -> None:
        if node not in levels:
            levels[node] = -step  # as long as its targets are visited
            targets = [arrow.target for arrow in arrows if arrow.source == node]
            for target in targets:
                visit(target)
            levels[node] = max((levels[target] + step for target in targets), default=0)

    for node in nodes:
        visit(node)
    return levels


def _arrange(row: list[_Place], sides: slice) -> None:
    """Brings each place as close as possible to its neighbours on these sides; places that want one spot share it."""
    wishes = {place: fmean([each.x for side in place.near[sides] for each in side] or [place.x]) for place in row}
    row.sort(key=wishes.__getitem__)
    for place in row:
        place.x = 0
    for sign in (1, -1):
        edge = -math.inf
        for place in row[::sign]:
            edge = max(sign * wishes[place], edge + place.half)
            place.x += sign * edge / 2
            edge += place.half + _APART


def _svg(drawing: Drawing, text: str) -> str:
    rows, lines = _lay_out(drawing)
    if not rows:
        return ""
    height, gap = 2.0, 12 if any(arrow.label for arrow in lines) else 22
    for row in rows:
        band = max(place.height for place in row)
        for place in row:
            place.y, place.height = height + band / 2, place.height or band
        across = max(abs(place.x - each.x) for place in row for each in [place, *place.near[1]])
        height += band + gap + min(20, across / 8)
    places = [place for row in rows for place in row]
    left, right = min(place.x - place.half for place in places) - 2, max(place.x + place.half for place in places) + 2
    width, height = right - left, places[-1].y + 17
    arrows = set(drawing.arrows)
    parts = [part for arrow, line in lines.items() for part in _line(line, _opposite(arrow) in arrows)]
    parts += [part for place in places for part in _box(place)]
    return (
        f'<svg role="img" aria-label="{text}" width="{width:.0f}" height="{height:.0f}" style="{_STYLE}" '
        f'viewBox="{left:.1f} 0 {width:.1f} {height:.1f}">\n' + "\n".join(parts) + "</svg>"
    )


def _line(line: Sequence[_Place], both: bool) -> Iterator[str]:
    path = ""
    for one, other in pairwise(line):
        (x, y), (to_x, to_y) = one.end(other), other.end(one)
        middle = (y + to_y) / 2
        path += f"{'L' if path and not one.text else 'M'}{x:.1f},{y:.1f}"
        path += f"C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{to_y:.1f}"
    yield f'<path d="{path}" style="fill:none;stroke:currentColor;opacity:.6"/>'
    for end, before in [(line[-1], line[-2]), (line[0], line[1])][: 1 + both]:
        (x, y), back = end.end(before), math.copysign(7, before.y - end.y)
        yield f'<path d="M{x - 4:.1f},{y + back:.1f}h8L{x:.1f},{y:.1f}z" style="fill:currentColor;opacity:.8"/>'


def _box(place: _Place) -> Iterator[str]:
    if style := _BOXES.get(place.kind):
        left, top, width = place.x - place.half, place.y - place.height / 2, 2 * place.half
        yield f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{place.height}" style="{style}"/>'
    if place.text:
        line, short = _one_line(place.text), _short(place.text)
        title = f"<title>{escape(line)}</title>" if line != short else ""
        position = f'x="{place.x:.1f}" y="{place.y + 4.5:.1f}"'
        yield f'<text {position} style="fill:currentColor;text-anchor:middle">{escape(short)}{title}</text>'


def _opposite(arrow: Arrow) -> Arrow:
    return Arrow(arrow.target, arrow.source, arrow.label)


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())


def _short(text: str) -> str:
    line = _one_line(text)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}\u2026"


def _width(text: str) -> float:
    """The width of the shortened text, in a font that is not known."""
    return sum(14 if char > "\u2e7f" else 7 for char in _short(text))
