"""Markup that tries to act, and an independent judge of our HTML, which names whatever is not on a short list."""

import re
from html.parser import HTMLParser
from pathlib import Path

_LINES = Path(__file__).with_name("hostile.txt").read_text(encoding="utf-8").splitlines()

HOSTILE = [line.replace("\\x01", "\x01") for line in _LINES]
DANGEROUS_TEX = re.compile(r"\\(href|url|unicode|require|style|class|cssId|def|newcommand|ref|eqref|mmlToken|\\\s*\[)")

TAGS = frozenset(
    "a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 "
    "h6 hr i img ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead "
    "tr u ul var".split()
)
ATTRIBUTES = frozenset(
    "href target rel style colspan rowspan scope border class span start src alt aria-hidden".split()
)
_FUNCTIONS = frozenset({"var", "rgb", "rgba", "hsl", "hsla", "color-mix"})
_CALL = re.compile(r"([\w-]+)\(")
_LINK = re.compile(r"(https?://|mailto:)", re.IGNORECASE)
_TEX = re.compile(r"[$\\]")


class _Judge(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.text: list[str] = []
        self.code: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [] if tag in TAGS else [f"tag {tag}"]
        self.found += [problem for name, value in attrs for problem in _attribute(tag, name, value or "")]
        self.open += [] if tag in {"br", "hr", "img", "col"} else [tag]

    def handle_endtag(self, tag: str) -> None:
        self.found += [] if self.open and self.open.pop() == tag else [f"unbalanced {tag}"]

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        self.code += [data] if "pre" in self.open else []

    def handle_comment(self, data: str) -> None:
        self.found.append("comment")

    def handle_decl(self, decl: str) -> None:
        self.found.append("declaration")

    def handle_pi(self, data: str) -> None:
        self.found.append("instruction")


def _attribute(tag: str, name: str, value: str) -> list[str]:
    allowed = name in ATTRIBUTES and {"src": "img", "alt": "img", "href": "a"}.get(name, tag) == tag
    fine = {
        "href": bool(_LINK.match(value)),
        "target": value == "_blank",
        "src": value.startswith("data:image/svg+xml;base64,"),
        "class": value == "dataframe",
        "style": not re.search(r"url|expression|import|@|\\|position|/\*", value)
        and set(_CALL.findall(value)) <= _FUNCTIONS,
    }.get(name, True)
    return [] if allowed and fine else [f"attribute {tag}.{name}={value[:60]}"]


def _judged(html: str) -> _Judge:
    judge = _Judge()
    judge.feed(html)
    judge.close()
    return judge


def problems(html: str) -> list[str]:
    judge = _judged(html)
    return judge.found + [f"left open {tag}" for tag in judge.open]


def text_of(html: str) -> str:
    return "".join(_judged(html).text)


def code_of(html: str) -> str:
    return "".join(_judged(html).code)


def live_tex(html: str) -> list[str]:
    outside = re.sub(r"<(pre|code)\b.*?</\1>", "<i></i>", html, flags=re.DOTALL)
    runs = re.split(r"<[^>]*>", outside)
    return [run for run in runs if len(_TEX.findall(run)) > 1]
