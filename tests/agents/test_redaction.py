import pytest

from autogen_nb.agents.parts.output_limits import Redactor
from autogen_nb.outputs import Cleared, Display, Failure, Output, Result, Stream

KEY = "sk-abcdefgh"
SECRETS = {KEY: "OPENAI_API_KEY", "abc": "SHORT"}


def shown(*outputs: Output) -> list[Output]:
    redactor = Redactor(SECRETS)
    return [each for output in (*outputs, None) for each in redactor.take(output)]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (Stream("stdout", f"{KEY}, {KEY}\n"), Stream("stdout", "[OPENAI_API_KEY], [OPENAI_API_KEY]\n")),
        (Result({"text/plain": f"'{KEY}'", "n": 1}), Result({"text/plain": "'[OPENAI_API_KEY]'", "n": 1})),
        (Display({"a": {KEY: [KEY]}}), Display({"a": {"[OPENAI_API_KEY]": ["[OPENAI_API_KEY]"]}})),
        (
            Failure("KeyError", KEY, ("a", f"b {KEY}")),
            Failure("KeyError", "[OPENAI_API_KEY]", ("a", "b [OPENAI_API_KEY]")),
        ),
        (Stream("stdout", "abc\n"), Stream("stdout", "[SHORT]\n")),
        (Cleared(), Cleared()),
    ],
)
def test_secret_is_replaced_by_its_name(output: Output, expected: Output) -> None:
    assert shown(output) == [expected]


@pytest.mark.parametrize("cut", range(len(KEY) + 1))
def test_secret_in_two_pieces_is_replaced(cut: int) -> None:
    pieces = shown(Stream("stdout", f"is {KEY[:cut]}"), Stream("stdout", f"{KEY[cut:]}.\n"))

    assert "".join(piece.text for piece in pieces if isinstance(piece, Stream)) == "is [OPENAI_API_KEY].\n"


def test_pieces_keep_their_order() -> None:
    out, error = Stream("stdout", "yes"), Stream("stderr", "no s")

    assert shown(out, error, Result({}), Stream("stdout", "s"), Stream("stdout", "k")) == [
        Stream("stdout", "ye"),
        Stream("stdout", "s"),
        Stream("stderr", "no "),
        Stream("stderr", "s"),
        Result({}),
        Stream("stdout", "sk"),
    ]
