from autogen_nb.core.chats.message_roles import wire

CALLS = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
CALL = {"name": "f", "arguments": "{}"}


def test_context_stays_here() -> None:
    assert list(wire([{"role": "user", "content": "x", "context": {"a": 1}}])) == [{"role": "user", "content": "x"}]
