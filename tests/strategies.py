"""Hypothesis strategies for events: every class, made from the types of its fields."""

import dataclasses
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from autogen_nb.events import CodeAsked, Event, ModelAsked, Recorded, Said

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
EVENTS: tuple[type, ...] = get_args(Event)


def of(hint: Any) -> st.SearchStrategy[Any]:
    plain = {
        Any: JSON,
        str: st.text(max_size=10),
        int: st.integers(),
        bool: st.booleans(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        type(None): st.none(),
    }
    arguments = get_args(hint)
    if hint == Recorded:
        # Events within events: a few kinds stand for all, or it would have no end.
        return st.one_of([instances(cls) for cls in (Said, ModelAsked, CodeAsked)])
    if hint in plain:
        return plain[hint]
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return instances(hint)
    if get_origin(hint) is Literal:
        return st.sampled_from(arguments)
    if get_origin(hint) is tuple:
        return st.lists(of(arguments[0]), max_size=3).map(tuple)
    if get_origin(hint) is list:
        return st.lists(JSON, max_size=3)
    if "Mapping" in str(hint) or get_origin(hint) is dict:
        return st.dictionaries(st.text(max_size=10), JSON, max_size=3)
    return st.one_of([of(arm) for arm in arguments])


def instances(cls: type) -> st.SearchStrategy[Any]:
    return st.builds(cls, **{name: of(hint) for name, hint in get_type_hints(cls).items()})
