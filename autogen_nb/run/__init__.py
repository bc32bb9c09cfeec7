"""Drives flows for sync and async callers; a flow is a chat as a generator of events.

1. The flow, the views and the user's functions run in the caller's thread; models and executors run in the thread of
   the engine.
2. The driver logs a question before it gets the answer. If the log already contains events, the driver compares them
   with the events of the flow, answers from the log, and continues at the first question without an answer.
"""

from autogen_nb.run.driver import (
    Inquiry,
    InquiryAnswer,
    Log,
    OnCaller,
    OnEngine,
    World,
    stream_events,
    without_password,
)
from autogen_nb.run.surfaces import Surface, View, describer, register_surface, surface
from autogen_nb.run.sync_bridge import (
    CancellationToken,
    Waits,
    during,
    heartbeat,
    in_background,
    interruptible,
    is_caller_blocked,
    iterate,
    result,
    run_to_completion,
    settle,
    then,
)

__all__ = [
    "CancellationToken",
    "Inquiry",
    "InquiryAnswer",
    "Log",
    "OnCaller",
    "OnEngine",
    "Surface",
    "View",
    "Waits",
    "World",
    "describer",
    "during",
    "heartbeat",
    "in_background",
    "interruptible",
    "is_caller_blocked",
    "iterate",
    "register_surface",
    "result",
    "run_to_completion",
    "settle",
    "stream_events",
    "surface",
    "then",
    "without_password",
]
