"""What the notebooks of the stories hold, and what the model in them says."""

from autogen_nb.testing import FakeOpenAI

LOAD = "%load_ext autogen_nb"
KEY = "sk-secret-of-a-test"
CHAT = """
import autogen_nb as autogen
assistant = autogen.AssistantAgent("assistant", llm_config={"model": "fake-model"})
user = autogen.UserProxyAgent(
    "user",
    human_input_mode="NEVER",
    is_termination_msg=lambda message: "TERMINATE" in message["content"],
    code_execution_config={"confirm": "always"},
)
result = user.initiate_chat(assistant, message="Multiply.")
print("the next line", result.summary)
"""
"""A chat of two agents in a plain cell, which blocks the kernel."""


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
