"""The exception tree, ordered by what the caller can do about an error.

AutogenError
├── ConfigError            fix the code or the settings
│   ├── WrongAddress       a server's address cannot be used
│   ├── WrongType          a value has the wrong type; also a TypeError
│   │   └── InvalidCarryOverType   a carryover is neither text nor a list
│   ├── AgentNameConflict      several agents have the same name
│   ├── UndefinedNextAgent     an agent that may speak next is not in the group
│   └── SenderRequired         a trigger needs a sender, and there is none
├── ModelError             try again, or choose another model
│   ├── ModelUnavailable   the server could not be reached, or is overloaded
│   ├── ModelRefused       the server refused the key, the model name or the request
│   │   ├── ContentFiltered    the server's content filter stopped the request or the reply
│   │   └── ContextTooLong     the request is longer than the model can read
│   ├── BudgetReached      the next request would exceed the budget
│   └── RecordingEnded     a replayed conversation has no further reply
├── ExecutionError         a kernel, a program or a file could not be used
│   └── TransferError      a variable cannot be transferred
├── SessionError           the log is invalid or belongs to another chat; choose another log
├── CallbackError          a function of the user raised an exception
├── NoEligibleSpeaker      nobody may speak next, and the chat ends
├── ChatUnfinished         a chat was stopped, or reached a limit, before its answer
│   └── AnswerIncomplete       the answer exists but lacks a part
└── NobodyThere            a question needs a person and none is available

Failing code of an agent raises no exception; the result of the run has a non-zero exit code.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autogen_nb.messages import Usage


class AutogenError(Exception):
    pass


class ConfigError(AutogenError, ValueError):
    pass


class WrongAddress(ConfigError):
    """A server's address cannot be used.

    Attributes
    ----------
    proposal : str
        The address that is probably meant; "" if there is none.
    """

    def __init__(self, message: str, *, proposal: str = "") -> None:
        super().__init__(message)
        self.proposal = proposal


class WrongType(ConfigError, TypeError):
    pass


class InvalidCarryOverType(WrongType):
    """A carryover is neither text nor a list."""


class AgentNameConflict(ConfigError):
    """Several agents have the same name."""


class UndefinedNextAgent(ConfigError):
    """An agent that may speak next is not in the group, or no agent may speak next."""


class SenderRequired(ConfigError):
    """A trigger needs the sender of a message, and there is none."""


class ModelError(AutogenError):
    """A model gave no usable reply.

    Attributes
    ----------
    model : str
        The model's name.
    status : int or None
        The HTTP status of the response; None if there was no response.
    usage : Usage or None
        The tokens that the server charges for the failed request; None if it reports none.
    cost : float or None
        The cost of the failed request in US dollars; None if it is unknown.
    reason, code, param : str
        The server's own message, its code, and the field of the request that it names; "" if it gives none.
    """

    def __init__(self, message: str, *, model: str = "") -> None:
        super().__init__(message)
        self.model = model
        self.reason = self.code = self.param = ""
        self.status: int | None = None
        self.usage: Usage | None = None
        self.cost: float | None = None


class ModelUnavailable(ModelError):
    pass


class ModelRefused(ModelError):
    pass


class ContentFiltered(ModelRefused):
    pass


class ContextTooLong(ModelRefused):
    pass


class BudgetReached(ModelError):
    """The next request would exceed the budget; it was not sent.

    Attributes
    ----------
    spent : str
        The amount spent so far, as text, such as "0.0312 of 0.05 dollars".
    """

    def __init__(self, message: str, *, model: str = "", spent: str = "") -> None:
        super().__init__(message, model=model)
        self.spent = spent


class RecordingEnded(ModelError):
    pass


class ExecutionError(AutogenError):
    pass


class TransferError(ExecutionError):
    pass


class SessionError(AutogenError):
    pass


class CallbackError(AutogenError):
    """A function of the user raised an exception, which is chained as the cause."""


class NobodyThere(AutogenError):
    pass


class NoEligibleSpeaker(AutogenError):
    """Nobody may speak next; a function that selects speakers raises this error to end the chat."""


class ChatUnfinished(AutogenError):
    """A chat ended before its answer.

    Attributes
    ----------
    reason : str
        The `autogen_nb.events.EndReason` of the chat, or "incomplete" for an incomplete answer.
    """

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class AnswerIncomplete(ChatUnfinished):
    """The answer lacks a part, because a block failed or a plot was not shown."""
