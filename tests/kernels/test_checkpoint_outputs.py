"""Outputs of all forms and sizes: after each there is a checkpoint, and the woken kernel can send it again."""

import sys
from collections.abc import Iterator

import pytest

from autogen_nb.kernels.transfer import variable_exchange
from autogen_nb.outputs import Failure
from autogen_nb.outputs import size as size_of
from tests.kernels.looping import SharedKernel, shared_kernel
from tests.processes import waited

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="checkpoints are forks on Linux")

KB = 1000
SIZES = {"1 KB": KB, "100 KB": 100 * KB, "10 MB": 10_000 * KB}
# Code with an output of about `size` bytes.
FORMS = {
    "print": "print('x' * size)",
    "lines": "for n in range(size // 100): print('y' * 99)",
    "stderr": "import sys\n_ = sys.stderr.write('e' * size)",
    "program": "!head -c {size} /dev/zero | tr '\\\\0' z",
    "result": "b'r' * size",
    "error": "raise ValueError('v' * size)",
    "HTML": "from IPython.display import HTML\nHTML('<p>' + 'h' * size)",
    "updated": "from IPython.display import display\n"
    "h = display({'text/plain': 'd' * size}, raw=True, display_id=True)\n"
    "h.update({'text/plain': 'u' * size}, raw=True)",
    "PNG": "import os\nfrom IPython.display import Image, display\n"
    "display(Image(b'\\x89PNG\\r\\n\\x1a\\n' + os.urandom(size), format='png'))",
    "imshow": "import matplotlib.pyplot as plt, numpy as np\nside = max(int((size / 2) ** 0.5), 30)\n"
    "axes = plt.figure(figsize=(side / 100, side / 100), dpi=100).add_axes((0, 0, 1, 1))\n"
    "_ = axes.imshow(np.random.rand(side, side, 3))",
    "table": "import pandas as pd\nwith pd.option_context('display.max_rows', None):\n"
    "    display(pd.DataFrame({'a': range(max(size // 60, 9))}))",
    "model": "from sklearn.compose import ColumnTransformer\nfrom sklearn.preprocessing import StandardScaler\n"
    "ColumnTransformer([(f't{n}', StandardScaler(), [0]) for n in range(size // 1500)])",
    "Altair": "import altair, pandas as pd\naltair.data_transformers.disable_max_rows()\n"
    "altair.Chart(pd.DataFrame({'a': range(max(size // 10, 9))})).mark_point().encode(x='a')",
    "Plotly": "import plotly.graph_objects as go\ngo.Figure(go.Scatter(y=list(range(max(size // 8, 9)))))",
    "widget": "import ipywidgets, os\nipywidgets.Image(value=os.urandom(size))",
    "comm": "import comm, os\n"
    "c = comm.create_comm(target_name='t', data={'d': 'x' * size}, buffers=[os.urandom(size)])",
}
# The front end gets these as messages of comms, which are no outputs.
WIDGETS = ("widget", "comm")
LONG = ("Altair", "Plotly", "imshow", "model", "program")


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedKernel]:
    with shared_kernel(tmp_path_factory.mktemp("work"), checkpoints=True) as shared:
        yield shared


@pytest.mark.parametrize(
    ("form", "size"),
    [
        pytest.param(form, size, marks=[pytest.mark.slow] * (size == "10 MB" and form in LONG))
        for form in FORMS
        for size in SIZES
    ],
)
def test_a_checkpoint_after_each_output(agent: SharedKernel, form: str, size: str) -> None:
    told: list[str] = []
    agent.kernel.tell = told.append

    ran = agent.execute(f"size = {SIZES[size]}\n{FORMS[form]}")

    assert [type(each) for each in ran.outputs if isinstance(each, Failure)] == [Failure] * (form == "error")
    assert form in WIDGETS or sum(map(size_of, ran.outputs)) > 0.8 * SIZES[size]
    number = agent.do(agent.kernel.take_checkpoint())
    assert (bool(number), told) == (True, [])
    assert agent.do(agent.kernel.go_back(number))
    assert agent.execute("print(size)").stdout == f"{SIZES[size]}\n"


@pytest.mark.parametrize("size", SIZES)
def test_a_checkpoint_after_each_input(agent: SharedKernel, size: str) -> None:
    told: list[str] = []
    agent.kernel.tell = told.append
    text = "i" * SIZES[size]
    agent.execute("import ipywidgets\nupload = ipywidgets.FileUpload()")
    identifier = agent.execute("print(upload.model_id)").stdout.strip()
    file = {"name": "a", "type": "", "size": len(text), "last_modified": 0}
    update = {"method": "update", "state": {"value": [file]}, "buffer_paths": [["value", 0, "content"]]}

    agent.kernel.widgets.send(identifier, update, [text.encode()])
    agent.do(variable_exchange.put(agent.kernel, {"given": text}))
    typed = "print(len('" + text + "'), len(given), len(upload.value[0].content))"

    assert waited(lambda: agent.execute(typed).stdout == f"{SIZES[size]} {SIZES[size]} {SIZES[size]}\n")
    assert (bool(agent.do(agent.kernel.take_checkpoint())), told) == (True, [])
