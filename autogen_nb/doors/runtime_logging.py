"""Runtime logging, under AutoGen 0.2's module name."""

from autogen_nb.run.runtime_log import (
    get_connection,
    log_chat_completion,
    log_event,
    log_function_use,
    log_new_agent,
    log_new_client,
    log_new_wrapper,
    logging_enabled,
    start,
    stop,
)

__all__ = [
    "get_connection",
    "log_chat_completion",
    "log_event",
    "log_function_use",
    "log_new_agent",
    "log_new_client",
    "log_new_wrapper",
    "logging_enabled",
    "start",
    "stop",
]
