"""The exception tree: branches by what the caller can do about it.

AutogenError
├── ConfigError            fix the code or the settings; nothing was started
│   └── WrongType          a value of another type, which is a TypeError too
├── ModelError             try again, or choose another model
│   ├── ModelUnavailable   the server could not be reached, or is overloaded
│   ├── ModelRefused       the server said no: key, model name, request
│   │   ├── ContentFiltered    its content filter stopped the request or the reply
│   │   └── ContextTooLong     the request is longer than the model can read
│   ├── BudgetReached      the next request would pass the budget
│   └── RecordingEnded     a replayed conversation has no further reply
├── ExecutionError         the kernel could not be started or was lost
│   └── TransferError      a variable cannot be handed over
├── SessionError           the log does not match its flow: choose another log
├── CallbackError          a function handed in by the user raised
├── ChatUnfinished         a chat ended before its answer: stopped, or a limit was met
│   └── AnswerIncomplete       the answer is there, and lacks a part
└── NobodyThere            a question needs a person and there is none

Code that an agent ran and that failed is not an error here: it is an answer with a non-zero exit code.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autogen_nb.messages import Usage


class AutogenError(Exception):
    """Root of every exception that this package raises on its own account."""


class ConfigError(AutogenError, ValueError):
    """A setting or an argument is wrong; raised before anything starts."""


class WrongType(ConfigError, TypeError):
    """A setting or an argument is of a type that it cannot have."""


class ModelError(AutogenError):
    """No usable reply came from a model.

    Attributes
    ----------
    model : str
        The model that was asked, as it was named to us.
    status : int or None
        The HTTP status that the server answered with; None where it did not come to that.
    usage : Usage or None
        The tokens that the server counted all the same, which are paid for; None where it told of none.
    cost : float or None
        What they cost in US dollars; None where that is not known.
    """

    def __init__(self, message: str, *, model: str = "") -> None:
        super().__init__(message)
        self.model = model
        self.status: int | None = None
        self.usage: Usage | None = None
        self.cost: float | None = None


class ModelUnavailable(ModelError):
    """The model's server could not be reached, timed out or is overloaded; trying again may help."""


class ModelRefused(ModelError):
    """The model's server refused the request; trying the same again will not help."""


class ContentFiltered(ModelRefused):
    """The server's content filter stopped the request or the reply; another server would be asked the same."""


class ContextTooLong(ModelRefused):
    """The request is longer than the model can read; a shorter one may be answered."""


class BudgetReached(ModelError):
    """The next request would pass the budget; it was not sent.

    Attributes
    ----------
    spent : str
        What was spent so far, for a person, as "0.0312 of 0.05 dollars".
    """

    def __init__(self, message: str, *, model: str = "", spent: str = "") -> None:
        super().__init__(message, model=model)
        self.spent = spent


class RecordingEnded(ModelError):
    """A replayed conversation was asked for a reply that it does not hold."""


class ExecutionError(AutogenError):
    """Code could not be run at all."""


class TransferError(ExecutionError):
    """A variable could not be handed to, or taken from, the agent's kernel."""


class SessionError(AutogenError):
    """A recorded log does not belong to the flow that it was given to."""


class CallbackError(AutogenError):
    """A function that the user handed in raised; the cause is chained."""


class NobodyThere(AutogenError):
    """A question needs a person, and nobody can answer here."""


class ChatUnfinished(AutogenError):
    """A chat ended before its answer.

    Attributes
    ----------
    reason : str
        Which end it was, as in `autogen_nb.events.Ended.reason`.
    """

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class AnswerIncomplete(ChatUnfinished):
    """A chat came to an answer that lacks a part, and says which: a block failed, or a plot was not shown."""
