"""What the scripted model says in the tests of the magics."""


def python(*blocks: str, words: str = "Let me see.") -> str:
    return "\n\n".join((words, *(f"```python\n{block}\n```" for block in blocks)))
