import pytest
from playwright.sync_api import expect

from autogen_nb.kernels.guard.confine import why_impossible
from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import code, connected
from tests.browser.looks import picture
from tests.browser.notebook_page import NotebookPage

pytestmark = pytest.mark.skipif(bool(why_impossible()), reason=why_impossible())

# The reading of later blocks does not know that it writes.
DEFINES = "import pyarrow as pa\n\ndef store(name):\n    pa.create_memory_map(name, 100).close()"
ONE = "store('one.bin')"
TWO = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    list(pool.map(store, ['left.bin', 'right.bin']))
print('both are there')
""".strip()


def test_native_code_and_threads_ask_in_the_middle_of_a_block(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(*map(code, (DEFINES, ONE, TWO, ONE, f"{ONE}\nprint('once more')")), "All is saved.")
    notebook.create(f"{connected(fake)}\n%config AutogenMagics.imports = ''", "%%autogen --confirm risky\nSave it.")
    notebook.run_all()
    expect(notebook.output(1)).to_contain_text("it writes one.bin next. Allow it?")
    misfits = picture(notebook, "guard-asks")
    notebook.click(1, "Deny")
    notebook.fill(1, "not here", "Reason")
    notebook.click(1, "Deny")
    expect(notebook.output(1)).to_contain_text("asks 2 questions")
    misfits += picture(notebook, "guard-asks-twice")
    notebook.click(1, "Allow all")
    expect(notebook.output(1)).to_contain_text("it writes one.bin next. Allow it?")
    notebook.click(1, "Always allow …")
    misfits += picture(notebook, "guard-rules")
    notebook.output(1).get_by_role("checkbox").first.check()
    notebook.click(1, "Allow from now on")
    notebook.await_idle()

    expect(notebook.output(1)).to_contain_text("All is saved.")
    expect(notebook.output(1)).to_contain_text("Denied, the code writes one.bin: not here")
    expect(notebook.output(1)).to_contain_text("Permission denied")
    expect(notebook.output(1)).to_contain_text("once more")
    assert misfits + picture(notebook, "guard-end") == []
