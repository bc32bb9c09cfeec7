"""What the notebooks of the stories hold, and what the model in them says."""

from autogen_nb.testing import FakeOpenAI

LOAD = "%load_ext autogen_nb"
KEY = "sk-secret-of-a-test"


def connected(fake: FakeOpenAI) -> str:
    settings = {"OPENAI_BASE_URL": fake.base_url, "OPENAI_API_KEY": KEY, "AUTOGEN_NB_MODEL": "fake-model"}
    return f"import os\nos.environ.update({settings})\n{LOAD}"


def code(*blocks: str, says: str = "Here is code.") -> str:
    return "\n\n".join((says, *(f"```python\n{block}\n```" for block in blocks)))


PLOT = """
import matplotlib.pyplot as plt
fig, ax = plt.subplots(figsize=(6, 3))
ax.plot([1, 4, 9])
ax.set_title("squares")
plt.show()
""".strip()
