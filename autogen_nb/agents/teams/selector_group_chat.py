"""`SelectorGroupChat`: AgentChat's team whose speakers a model or a function selects."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

from autogen_nb.agents.chats.model_questions import ask_for_words
from autogen_nb.agents.parts import prompts
from autogen_nb.agents.parts.agent import call_user_code
from autogen_nb.agents.parts.agent_config import read_client, read_count
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.agents.teams.team_messages import BaseChatMessage, BaseMessage
from autogen_nb.agents.teams.team_question_handler import OrderQuestion
from autogen_nb.agents.teams.termination_conditions import TerminationCondition
from autogen_nb.core.chats.speaker_selection import Selection
from autogen_nb.core.chats.team_flow import OneByOne, Order
from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import Called, Returned, SpeakerAsked, SpeakerGiven
from autogen_nb.run import OnCaller, OnEngine
from autogen_nb.views.team_drawing import Drawing, Node, chosen_by, function_label


class SelectorGroupChat(BaseGroupChat):
    """A team in which a model, or a function, selects the next speaker.

    The other parameters are those of `BaseGroupChat`.

    Parameters
    ----------
    model_client
        The model that selects the speaker.
    selector_prompt
        The prompt for the model, with the fields ``{roles}``, ``{participants}`` and ``{history}``.
    allow_repeated_speaker
        Whether an agent may speak twice in a row.
    max_selector_attempts
        The maximum number of requests to the model; if no reply names exactly one agent, the next agent in order
        speaks.
    selector_func
        Takes the messages, and returns the name of the next speaker, or None to ask the model; it may be async.
    candidate_func
        Takes the messages, and returns the names from which the model selects; it may be async.
    """

    def __init__(
        self,
        participants: Sequence[Any],
        model_client: Any,
        *,
        selector_prompt: str = prompts.TEAM_SELECTOR,
        allow_repeated_speaker: bool = False,
        max_selector_attempts: int = 3,
        selector_func: Callable[..., Any] | None = None,
        candidate_func: Callable[..., Any] | None = None,
        termination_condition: TerminationCondition | None = None,
        max_turns: int | None = None,
        name: str = "team",
        description: str = "",
        custom_message_types: Sequence[type[BaseMessage]] | None = None,
    ) -> None:
        self._repeats = allow_repeated_speaker
        self._attempts = read_count("max_selector_attempts", max_selector_attempts)
        self._model = read_client(model_client)
        self._prompt = selector_prompt
        self._function = selector_func
        self._candidates = candidate_func
        super().__init__(
            participants,
            termination_condition=termination_condition,
            max_turns=max_turns,
            name=name,
            description=description,
            custom_message_types=custom_message_types,
        )
        if len(self._members) < 2:  # noqa: PLR2004 - one is no choice
            raise ConfigError("a SelectorGroupChat needs at least two participants to choose from")

    def _drawing(self) -> Drawing:
        chooser = "a model" if self._function is None else function_label(self._function)
        return chosen_by(Node(chooser, "chooser"), self._nodes())

    def _new_order(self) -> Order:
        names = tuple(self._members)
        follows = None if self._repeats else {name: frozenset(names) - {name} for name in names}
        method: Literal["function", "auto"] = "auto" if self._function is None else "function"
        narrowed = self._candidates is not None
        selection = Selection(self.name, names, method, follows, retries=self._attempts - 1, narrowed=narrowed)
        return OneByOne(selection)

    def _select(self, question: OrderQuestion) -> OnCaller | OnEngine:
        messages = tuple(self._transcript.messages)
        if isinstance(question, Called):
            candidates = cast("Callable[..., Any]", self._candidates)
            return OnCaller(lambda: call_user_code(lambda: candidates(messages), "candidate_func", self._read_names))
        assert isinstance(question, SpeakerAsked)
        if question.method == "function":
            function = cast("Callable[..., Any]", self._function)
            return OnCaller(lambda: call_user_code(lambda: function(messages), "selector_func", self._read_name))
        return OnEngine(lambda _: ask_for_words(self._model, self._request(question, messages), SpeakerGiven))

    def _read_name(self, result: Any) -> SpeakerGiven:
        if result is None:
            return SpeakerGiven(None, "auto")
        if result not in self._members:
            names = ", ".join(self._members)
            raise CallbackError(f"selector_func returned {result!r}; it must return one of {names}, or None")
        return SpeakerGiven(result)

    def _read_names(self, result: Any) -> Returned:
        names = list(result) if isinstance(result, list | tuple) else []
        if not names or not all(name in self._members for name in names):
            known = ", ".join(self._members)
            raise CallbackError(f"candidate_func returned {result!r}; it must return a list of some of {known}")
        return Returned(names=tuple(dict.fromkeys(names)))

    def _request(self, question: SpeakerAsked, messages: Sequence[BaseMessage]) -> ModelRequest:
        names = question.candidates
        history = "\n\n".join(f"{m.source}: {m.to_text()}" for m in messages if isinstance(m, BaseChatMessage))
        prompt = prompts.fill_template(
            self._prompt, roles=self._roles(), participants=str(list(names)), history=history
        )
        family = str(getattr(self._model, "model_info", {}).get("family"))
        # Some models answer no request without a user message.
        role = "system" if family.startswith(("gpt", "o1", "o3", "o4")) else "user"
        conversation: list[dict[str, Any]] = [{"role": role, "content": prompt}]
        conversation += prompts.retry_messages(
            question.tried, names, prompts.NAMED_SEVERAL, prompts.NAMED_NOBODY, "user"
        )
        return ModelRequest(tuple(conversation))
