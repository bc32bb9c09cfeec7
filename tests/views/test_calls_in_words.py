from autogen_nb.messages import FunctionCall
from autogen_nb.views.in_words import LONGEST, arguments_of, call_in_words, result_in_words

ADD = FunctionCall("add", '{"a":1}', "c1")


def test_endless_texts_are_bounded() -> None:
    long = "x" * (LONGEST + 1_234)

    assert arguments_of(FunctionCall("f", long)).endswith("\n\u2026 [1,234 more characters are not shown]")
    assert result_in_words(ADD, long).endswith("\n\u2026 [1,234 more characters are not shown]")


def test_calls_in_words() -> None:
    assert call_in_words(ADD) == 'calls add({"a": 1})'
    assert result_in_words(ADD, "3") == "add returned: 3"
    assert result_in_words(ADD, "one\ntwo") == "add returned:\none\ntwo"
    assert result_in_words(ADD, "") == "add returned nothing"
