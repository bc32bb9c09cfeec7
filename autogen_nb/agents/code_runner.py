"""How an agent runs code when it is asked to by name; a chat asks the executor itself, unless these are overridden."""

from collections.abc import Sequence
from typing import Any

from autogen_nb.agents.agent import Agent
from autogen_nb.agents.configs import CodeConfig
from autogen_nb.core.ports import RunEnded
from autogen_nb.core.report import text_of
from autogen_nb.errors import ConfigError
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output
from autogen_nb.run import engine

Code = tuple[str, str]
"""A language and code, as AutoGen passes blocks to ``execute_code_blocks``."""


class CodeRunner(Agent):
    """An agent's code, as AutoGen 0.2 names it; `code` is None where it runs none."""

    name: Any
    code: CodeConfig | None

    def execute_code_blocks(self, code_blocks: Sequence[Code]) -> tuple[int, str]:
        """Exit code and output of blocks that run in order, up to the first that fails."""
        logs: list[str] = []
        for language, code in code_blocks:
            exit_code, log, _ = self.run_code(code, lang=language)
            logs.append(log)
            if exit_code != 0:
                return exit_code, "\n".join(logs)
        return 0, "\n".join(logs)

    def run_code(self, code: str, **kwargs: Any) -> tuple[int, str, str | None]:
        """Exit code, output, and container image (None: the code runs in no container) of one block."""
        if self.code is None:
            raise ConfigError(f"{self.name} runs no code; give it a code_execution_config")
        return engine.call(self._run(CodeBlock(str(kwargs.get("lang") or "python"), code)))

    async def _run(self, block: CodeBlock) -> tuple[int, str, str | None]:
        assert self.code is not None
        outputs: list[Output] = []
        async for item in self.code.executor.run((block,)):
            if isinstance(item, RunEnded):
                return item.exit_code, text_of(outputs) + (f"\n{item.note}" if item.note else ""), None
            outputs.append(item)
        raise ConfigError(f"{self.code.executor!r} ended a run without saying how")
