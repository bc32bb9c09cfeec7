import asyncio
from typing import Any

from autogen_nb.testing import ScriptedExecutor
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, contents, user

CODE = "Here:\n```python\nprint(1)\n```"


@BOTH_WAYS
def test_summary_args_belong_to_one_chat(way: Way) -> None:
    seen: list[dict[str, Any]] = []
    given = {"length": 3}

    def summary(_: Any, __: Any, args: dict[str, Any]) -> str:
        seen.append(dict(args))
        args["changed"] = True
        return "Short."

    for args in ({}, {}, {"summary_args": given}, {"summary_args": given}):
        chat(way, user(), assistant("TERMINATE"), message="Begin.", summary_method=summary, **args)

    assert seen == [{}, {}, {"length": 3}, {"length": 3}]
    assert given == {"length": 3}


@BOTH_WAYS
def test_a_block_that_ran_is_not_run_again(way: Way) -> None:
    executor = ScriptedExecutor({"print(1)": "1\n"})
    proxy = user(code_execution_config={"executor": executor, "last_n_messages": 3})

    result = chat(way, proxy, assistant(CODE, "That was one.", "TERMINATE"), message="Print.")

    assert contents(result)[3:] == ["That was one.", "Go on.", "TERMINATE"]
    assert len(executor.blocks) == 1


@BOTH_WAYS
def test_async_functions_work_inside_a_running_loop(way: Way) -> None:
    async def double(number: int) -> int:
        await asyncio.sleep(0)
        return 2 * number

    call = {"content": None, "tool_calls": [{"id": "c", "function": {"name": "double", "arguments": '{"number": 21}'}}]}
    proxy, teacher = user(function_map={"double": double}), assistant(call, "TERMINATE")

    async def cell() -> list[Any]:
        if way == "sync":
            return contents(proxy.initiate_chat(teacher, message="Double.", silent=True))
        return contents(await proxy.a_initiate_chat(teacher, message="Double.", silent=True))

    assert asyncio.run(cell()) == ["Double.", None, "42", "TERMINATE"]
