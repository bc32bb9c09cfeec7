from autogen_nb.notebook.rendering.chat_html import folded, question
from tests.notebook.markup import code_of, problems, text_of


def test_folded_text_stands_behind_its_summary() -> None:
    html = folded("`KeyError: '<b>'` of it", "<i>traceback")

    assert html.startswith("<details><summary")
    assert text_of(html.split("</summary>")[0]) == "\u2715 KeyError: '<b>' of it"
    assert problems(html) == []
    assert code_of(html.split("</summary>")[1]) == "<i>traceback"


def test_a_question_is_escaped() -> None:
    assert text_of(question("Run `a<b` now?")) == "Run a<b now?"
