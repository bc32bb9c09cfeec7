from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.core.text.code_blocks import MarkdownCodeExtractor, content_str, extract_code, infer_lang
from autogen_nb.executors.execute_code import CodeExecutorFactory, execute_code
from autogen_nb.messages import CodeBlock

MIXED = "a `x=1` and ```python\nprint(1)\n``` b ```\nfoo bar\n``` ```json\n{}\n```"
BLOCKS = [("python", "print(1)"), ("", "foo bar"), ("json", "{}")]


@pytest.mark.parametrize(
    ("content", "single", "pairs"),
    [
        (MIXED, False, BLOCKS),
        (MIXED, True, [("", "x=1"), *BLOCKS]),
        ("none", False, [("unknown", "none")]),
        ([{"type": "text", "text": MIXED}, {"type": "image_url", "image_url": {"url": ""}}], False, BLOCKS),
    ],
)
def test_extract_code_finds_what_autogen_finds(content: Any, single: bool, pairs: list[tuple[str, str]]) -> None:
    assert extract_code(content, detect_single_line_code=single) == pairs


def test_an_extractor_infers_missing_languages() -> None:
    blocks = MarkdownCodeExtractor().extract_code_blocks(
        "```\nprint(1)\n```\n```\nfoo bar\n```\n```\npip install x\n```"
    )

    assert blocks == [CodeBlock("python", "print(1)"), CodeBlock("", "foo bar"), CodeBlock("sh", "pip install x")]
    assert [infer_lang(code) for code in ("pip install x", "python a.py", "x =")] == ["sh", "sh", "unknown"]


def test_content_is_text_with_a_word_for_each_image() -> None:
    assert (
        content_str([{"type": "text", "text": "see "}, {"type": "image_url", "image_url": {"url": ""}}])
        == "see <image>"
    )
    assert content_str(None) == ""
    with pytest.raises(TypeError, match="must be a string"):
        content_str(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'text' or 'image_url'"):
        content_str([{"type": "audio"}])


@pytest.mark.parametrize(
    ("code", "options", "result"),
    [
        ("print('hi')", {}, (0, "hi", None)),
        ("echo hi; exit 3", {"lang": "sh"}, (3, "hi", None)),
        ("import time; time.sleep(60)", {"timeout": 1}, (1, "Timeout", None)),
    ],
)
def test_execute_code_runs_a_program(code: str, options: dict[str, Any], result: Any, tmp_path: Path) -> None:
    assert execute_code(code, work_dir=tmp_path, **options) == result
    assert list(tmp_path.iterdir()) == []


def test_execute_code_keeps_a_named_file_and_runs_it_again(tmp_path: Path) -> None:
    execute_code("print('hi')", filename="a.py", work_dir=tmp_path)

    assert execute_code(filename="a.py", work_dir=tmp_path) == (0, "hi", None)


@pytest.mark.parametrize(("arguments", "error"), [({}, "needs the code"), ({"code": "x", "lang": "ruby"}, "'ruby'")])
def test_execute_code_names_what_it_cannot_run(arguments: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        execute_code(**arguments)


def test_the_factory_creates_executors_by_name(tmp_path: Path) -> None:
    local = CodeExecutorFactory.create({"executor": "commandline-local", "commandline-local": {"work_dir": tmp_path}})

    assert isinstance(local, import_module("autogen_nb.coding").LocalCommandLineCodeExecutor)
    assert (local.work_dir, CodeExecutorFactory.create({"executor": local})) == (tmp_path, local)
    with pytest.raises(ValueError, match="'nothing'"):
        CodeExecutorFactory.create({"executor": "nothing"})
