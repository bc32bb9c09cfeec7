"""Drives flows, and bridges sync and async.

1. The flow runs in the caller's thread, and so does everything of the caller's: overridden methods, functions,
   views, persons. Models and executors are async and run on one engine thread with a loop of its own (`engine`).
2. The log is written before the world is asked. A log that already holds events is replayed first: they are
   compared with what the flow yields, its answers are sent in, and life goes on at the first open question
   (`driving`).
3. Whether a caller waits or awaits is known here and nowhere else (`waiting`).
"""

from autogen_nb.engine import Engine, Pump, engine, patiently
from autogen_nb.run.beginning import begun
from autogen_nb.run.cancelling import CancellationToken
from autogen_nb.run.driving import Here, Log, There, World, aevents, drive, events
from autogen_nb.run.inquiring import Inquired, Inquiry, kept
from autogen_nb.run.surfaces import Surface, View, has_surface, register_surface, surface
from autogen_nb.run.waiting import Waits, heartbeat, held, interruptible, result, settle, ticking, unsuspended
from autogen_nb.trusted.policy_file import PolicyFile, policy

__all__ = [
    "CancellationToken",
    "Engine",
    "Here",
    "Inquired",
    "Inquiry",
    "Log",
    "PolicyFile",
    "Pump",
    "Surface",
    "There",
    "View",
    "Waits",
    "World",
    "aevents",
    "begun",
    "drive",
    "engine",
    "events",
    "has_surface",
    "heartbeat",
    "held",
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
