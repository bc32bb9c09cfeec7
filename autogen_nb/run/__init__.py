"""Drives flows, and bridges sync and async.

1. The flow runs in the caller's thread, and so does everything of the caller's: overridden methods, functions,
   views, persons. Models and executors are async and run on one engine thread with a loop of its own (`engine`).
2. The log is written before the world is asked. A log that already holds events is replayed first: they are
   compared with what the flow yields, its answers are sent in, and life goes on at the first open question
   (`driver`).
3. Whether a caller waits or awaits is known here and nowhere else (`sync_bridge`).
"""

from autogen_nb.engine import Engine, StreamBridge, engine, patiently
from autogen_nb.run.cancellation import CancellationToken
from autogen_nb.run.driver import Inquired, Inquiry, Log, OnCaller, OnEngine, World, aevents, drive, events, kept
from autogen_nb.run.surfaces import Surface, View, has_surface, register_surface, surface
from autogen_nb.run.sync_bridge import (
    Waits,
    heartbeat,
    held,
    in_background,
    interruptible,
    result,
    settle,
    ticking,
    unsuspended,
)
from autogen_nb.trusted.policy_file import policy

__all__ = [
    "CancellationToken",
    "Engine",
    "Inquired",
    "Inquiry",
    "Log",
    "OnCaller",
    "OnEngine",
    "StreamBridge",
    "Surface",
    "View",
    "Waits",
    "World",
    "aevents",
    "drive",
    "engine",
    "events",
    "has_surface",
    "heartbeat",
    "held",
    "in_background",
    "interruptible",
    "kept",
    "patiently",
    "policy",
    "register_surface",
    "result",
    "settle",
    "surface",
    "ticking",
    "unsuspended",
]
