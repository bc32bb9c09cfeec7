"""Plays the programs, and writes down what AgentChat makes of them: what `main` returns, and what the models are asked.

In an environment of its own with ``autogen-agentchat==0.7.5``, ``autogen-ext[openai]==0.7.5``, ``lazy_loader`` and
``markdown-it-py``, from the project's folder::

    python -m tests.parity.agentchat.playing
"""
import asyncio, json, os, re, sys
from pathlib import Path

from autogen_nb.testing.fake_openai import FakeOpenAI
from tests.parity.agentchat import told
from tests.parity.measured import fake_openai

HERE = Path(__file__).parent
GOLDEN = HERE / "golden.json"
PROGRAMS = {path.stem: path for path in sorted(HERE.glob("programs/*.py"))}
AGENTCHAT = re.compile(r"from autogen_(agentchat|core|ext)\S* import")

def played(name, package=None):
    "What becomes of a program if AgentChat's names mean those of `package`."
    sys.modules["told"] = told
    source = PROGRAMS[name].read_text("utf-8")
    program = {"__name__": name}
    with FakeOpenAI(fake_openai.reply) as server:
        os.environ["MODEL_URL"] = server.base_url
        exec(compile(AGENTCHAT.sub(f"from {package} import", source) if package else source, PROGRAMS[name], "exec"), program)
        for who, replies in program["SCRIPT"].items(): fake_openai.set_script(who, replies)
        result = asyncio.run(program["main"]())
        asked = {who: [told.asked(body) for body in fake_openai.STATE.log[who]] for who in program["SCRIPT"]}
    return json.loads(json.dumps({"result": result, "asked": asked}))

if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: played(name) for name in PROGRAMS}, indent=1) + "\n", "utf-8")
