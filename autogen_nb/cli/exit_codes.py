"""The exit codes of the commands."""

from autogen_nb.errors import AnswerIncomplete, BudgetReached, ChatUnfinished, ConfigError, ModelError, NobodyThere

ANSWERED, FAILED, USAGE, UNFINISHED, MODEL, REFUSED, INCOMPLETE = range(7)
INTERRUPTED = 130

TABLE = """\b
Exit codes:
  0  answered
  1  failed: for example, a kernel was lost, or a file could not be written
  2  not started: an option, a file or a setting is wrong
  3  unfinished: a limit of turns, time or budget was reached, or you stopped it
  4  no usable reply came from the model
  5  refused: the code needs a person's approval
  6  incomplete: blocks of the offline model failed, as its answer says
  130, 143  ended by Ctrl-C or SIGTERM"""

_BY_ERROR = {
    BudgetReached: UNFINISHED,
    AnswerIncomplete: INCOMPLETE,
    ChatUnfinished: UNFINISHED,
    NobodyThere: REFUSED,
    ModelError: MODEL,
    ConfigError: USAGE,
}  # subclasses first


def code_of(error: BaseException | None) -> int:
    return next((code for kind, code in _BY_ERROR.items() if isinstance(error, kind)), FAILED)
