"""One browser, and one server for each of the two applications, for all browser tests.

Nothing here outlives the package: while Playwright runs, its event loop counts as running in this thread, and no
test elsewhere could call `asyncio.run`.
"""

import re
import shutil
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, expect, sync_playwright

from autogen_nb.testing import FakeOpenAI
from tests.browser import chromium
from tests.browser.notebook_page import NotebookPage
from tests.browser.servers import App, Server, serving

STEP_SECONDS = 45
"""How long one step of a story may take; a step takes a tenth of it on a machine that is not busy."""

_here = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    story = item.funcargs.get("notebook") if isinstance(item, pytest.Function) else None
    if report.failed and report.when == "call" and isinstance(story, NotebookPage):
        # A page that has crashed has no picture, and what failed is told all the same.
        with suppress(Error):
            story.screenshot(f"failed-{_slug(item)}")
    return report


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    executable = chromium.executable()
    if executable is None:
        # A machine without root cannot bring one: the tests are skipped by name, with the reason.
        pytest.skip(chromium.MISSING)
    expect.set_options(timeout=STEP_SECONDS * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=chromium.ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package", params=["lab", "notebook"])
def server(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    # The browser is asked for first: without one, no server has to start.
    assert browser.is_connected()
    app: App = request.param
    with serving(app, tmp_path_factory.mktemp(app)) as server:
        yield server


@pytest.fixture
def folder(request: pytest.FixtureRequest, server: Server, project: Path) -> Path:
    ignored = shutil.ignore_patterns(".ipynb_checkpoints", "autogen_files")
    return Path(shutil.copytree(project / "notebooks", server.root / _slug(request.node), ignore=ignored))


@pytest.fixture(scope="package")
def profile(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    assert server.url
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.set_default_timeout(STEP_SECONDS * 1000)
        yield context


@pytest.fixture
def notebook(profile: BrowserContext, server: Server, folder: Path, project: Path) -> Iterator[NotebookPage]:
    screenshots = project / "build" / "screenshots"
    screenshots.mkdir(parents=True, exist_ok=True)
    with profile.new_page() as page:
        yield NotebookPage(page, server, folder, screenshots)
    server.end_kernels()


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


def _slug(item: pytest.Item) -> str:
    return re.sub(r"\W+", "-", item.name).strip("-")
