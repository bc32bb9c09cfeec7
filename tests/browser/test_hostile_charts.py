import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from autogen_nb.notebook.rendering.mime import Document, document, frame_html, library_html
from tests.canary import canary

# Each is tried by itself; SITE stands for a server that counts requests.
SCRIPTS = Path(__file__).with_name("hostile_scripts.txt").read_text(encoding="utf-8")
BUNDLES = Path(__file__).with_name("hostile_bundles.json").read_text(encoding="utf-8")


def _page(browser: Browser, caught: list[str]) -> Page:
    page = browser.new_page()
    page.on("dialog", lambda dialog: caught.append(f"dialog {dialog.message}"))
    page.on("popup", lambda popup: caught.append("window"))
    page.on("download", lambda download: caught.append("download"))
    page.expose_function("hit", lambda: caught.append("script"))
    page.set_content("<!doctype html><title>page</title><main></main>")
    return page


def _show(page: Page, document: Document) -> None:
    """Shows the page in its frame, above a frame that tells when it is drawn."""
    last = frame_html(Document("<p>drawn</p>"))
    libraries = "".join(map(library_html, document.libraries))
    page.evaluate(
        """html => {
            const main = document.querySelector("main");
            main.innerHTML = html;
            for (const old of main.querySelectorAll("script")) {
                const script = document.createElement("script");
                for (const {name, value} of old.attributes) script.setAttribute(name, value);
                script.textContent = old.textContent;
                old.replaceWith(script);
            }
        }""",
        libraries + frame_html(document) + last,
    )
    frame = page.locator("iframe[data-autogen-nb]")
    expect(frame.last.content_frame.frame_locator("iframe").locator("p")).to_have_text("drawn")
    # What the first frame began has had the time of a second round through both frames.
    page.evaluate("() => new Promise(resolve => setTimeout(() => requestIdleCallback(resolve), 150))")


def _documents(url: str) -> Iterator[tuple[str, Document]]:
    for script in SCRIPTS.replace("SITE", url).splitlines():
        yield script, Document(f"<script>addEventListener('load', () => {{ {script} }})</script>")
    for name, bundle in json.loads(BUNDLES.replace("SITE", url)).items():
        page = document(bundle)
        assert page is not None
        yield name, page


def test_nothing_leaves_a_frame(browser: Browser) -> None:
    caught: list[str] = []
    escaped: dict[str, list[str]] = {}
    with canary() as (url, paths):
        page = _page(browser, caught)
        for name, shown in _documents(url):
            _show(page, shown)
            if page.title() != "page" or page.url != "about:blank":
                caught.append(f"now at {page.url}")
            heights = page.locator("iframe[data-autogen-nb]").evaluate_all("all => all.map(each => each.offsetHeight)")
            if max(heights) > 4000:
                caught.append(f"height {heights}")
            if paths or caught:
                escaped[name] = [*paths, *caught]
                paths.clear()
                caught.clear()
        page.close()

    assert escaped == {}


@pytest.mark.parametrize("script", ["new Image().src = 'SITE/image'", "top.hit()", "location = 'SITE/location'"])
def test_the_trap_works_without_frames(browser: Browser, script: str) -> None:
    caught: list[str] = []
    with canary() as (url, paths):
        page = _page(browser, caught)
        page.evaluate(f"() => {{ {script.replace('SITE', url)} }}")
        page.wait_for_timeout(300)
        page.close()

    assert paths or caught
