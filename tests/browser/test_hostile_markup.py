from collections.abc import Callable

import pytest
from playwright.sync_api import Browser

from autogen_nb.messages import FunctionCall
from autogen_nb.notebook.rendering.chat_html import card
from autogen_nb.notebook.rendering.markdown import markdown
from autogen_nb.notebook.rendering.mime import safe
from autogen_nb.notebook.view.outputs import call_html, result_html
from tests.notebook.markup import HOSTILE

PAGE = "<!doctype html><title>page</title><main></main>"
TRAP = """() => {
    window.caught = [];
    window.hit = window.x = () => caught.push("script");
    window.open = () => caught.push("window");
}"""


def _bundle(mime: str) -> Callable[[str], str]:
    return lambda vector: str(safe({mime: vector, "text/plain": vector})[0].get("text/html", ""))


RENDERERS: dict[str, Callable[[str], str]] = {
    "markdown": markdown,
    "html": _bundle("text/html"),
    "markdown bundle": _bundle("text/markdown"),
    "svg": _bundle("image/svg+xml"),
    "card": lambda vector: card(vector, markdown(vector), detail=vector),
    "call": lambda vector: call_html(FunctionCall(vector, vector)),
    "long call": lambda vector: call_html(FunctionCall(vector, vector * 40)),
    "result": result_html,
    "long result": lambda vector: result_html(vector * 40),
    "failure": lambda vector: result_html(f"Error: {vector}"),
}


def _shown(browser: Browser, html: list[str]) -> tuple[list[str], list[str]]:
    requests: list[str] = []
    with browser.new_context() as context:
        page = context.new_page()
        page.set_content(PAGE)
        page.evaluate(TRAP)
        page.on("dialog", lambda dialog: requests.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: requests.append(request.url))
        page.evaluate(
            """async pieces => {
                const main = document.querySelector("main");
                for (const piece of pieces) {
                    main.innerHTML = piece;
                    for (const kind of ["mouseover", "pointerover", "focus", "blur", "toggle", "load", "error"])
                        main.querySelectorAll("*").forEach(node => node.dispatchEvent(new Event(kind)));
                    await new Promise(requestAnimationFrame);
                }
                await new Promise(resolve => requestIdleCallback(resolve));
            }""",
            html,
        )
        caught: list[str] = page.evaluate("window.caught")
    return caught, [url for url in requests if not url.startswith("data:image/svg+xml;base64,")]


@pytest.mark.parametrize("renderer", RENDERERS)
def test_nothing_runs_and_nothing_is_loaded(browser: Browser, renderer: str) -> None:
    assert _shown(browser, [RENDERERS[renderer](vector) for vector in HOSTILE]) == ([], [])


def test_the_trap_works(browser: Browser) -> None:
    caught, requests = _shown(browser, [vector for vector in HOSTILE if vector.startswith("<img")])

    assert "script" in caught
    assert any("evil.invalid" in url for url in requests)
