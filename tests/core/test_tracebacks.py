from autogen_nb.core.text.tracebacks import shortened


def test_endless_recursion_has_an_end() -> None:
    frames = [f"Cell In[8], line {n}, in r(n)\n----> 1 def r(n): return r(n+1)\n" for n in range(980)]

    text = shortened([*frames, "RecursionError: too deep"])

    assert [line for line in text.split("\n") if not line.startswith("---")] == [
        *(f"Cell In[8], line {n}, in r(n)" for n in range(3)),
        "... 974 frames left out",
        *(f"Cell In[8], line {n}, in r(n)" for n in range(977, 980)),
        "RecursionError: too deep",
    ]
