"""`OpenAIWrapper`: AutoGen 0.2's client, which sends requests to models and needs no agent."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from autogen_nb.agents.chats.participant import ask_model
from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.parts.usage_tracker import UsageTracker
from autogen_nb.core.ports import ModelRequest
from autogen_nb.engine import engine
from autogen_nb.errors import ConfigError, ContentFiltered, ModelError
from autogen_nb.models.config.model_selection import model_for, register_client
from autogen_nb.models.wrappers.recording import cached
from autogen_nb.run import runtime_log

_OPTIONS = "messages prompt tools functions context filter_func allow_format_str_template agent cache".split()


class ChatCompletion(BaseModel, extra="allow"):
    """A reply, or a part of one, in the form of OpenAI's API; AutoGen 0.2's additional field `cost` is 0 if unknown.

    `note` is there if there is a notice for the person, such as that the request left out a parameter.
    """

    @classmethod
    def of(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            return cls(**{name: cls.of(item) for name, item in value.items()})
        return list(map(cls.of, value)) if isinstance(value, list) else value


class OpenAIWrapper(UsageTracker):
    """Asks the models of a config list, in order, until a reply is accepted; `base_config` is for all models."""

    def __init__(self, *, config_list: Sequence[Mapping[str, Any]] | None = None, **base_config: Any) -> None:
        Agent.__init__(self, "the client")
        UsageTracker.__init__(self)
        self._entries = [{**base_config, **entry} for entry in config_list or [{}]]
        runtime_log.log_new_wrapper(self, {"config_list": self._entries})

    total_usage_summary = property(UsageTracker.get_total_usage)
    actual_usage_summary = property(UsageTracker.get_actual_usage)

    def clear_usage_summary(self) -> None:
        self.usages.clear()

    def register_model_client(self, model_client_cls: type, **kwargs: Any) -> None:
        self._entries = register_client({"config_list": self._entries}, model_client_cls, **kwargs)["config_list"]

    def create(self, **config: Any) -> Any:
        """The first reply that `filter_func` accepts, or else the last model's reply, in the form of OpenAI's API.

        Parameters
        ----------
        **config
            ``messages`` or ``prompt``; ``tools`` or ``functions``; ``cache`` or ``cache_seed``; a ``context`` for
            messages whose content is a function of the context or, with ``allow_format_str_template``, a template;
            ``filter_func(context=, response=)``, which returns False to ask the next model. Other arguments are
            defaults for the entries of the config list.

        Raises
        ------
        ModelError
            If the last model fails, or a content filter stops a request or a reply.
        """
        for number, entry in enumerate(self._entries):
            is_last = number == len(self._entries) - 1
            settings = {**config, **entry}
            options = {name: settings.pop(name, None) for name in _OPTIONS}
            model = cached(model_for(settings), options["cache"])
            try:
                completion = engine.call(ask_model(model, _request(options), options["agent"] or self)).completion
            except ModelError as error:
                if is_last or isinstance(error, ContentFiltered):
                    raise
                continue
            self.usages.add(completion)
            response = {**runtime_log.openai_form(completion), "config_id": number}
            accepts: Callable[..., bool] = options["filter_func"] or (lambda **_: True)
            is_accepted = accepts(context=options["context"], response=ChatCompletion.of(response))
            if is_accepted or is_last:
                return ChatCompletion.of({**response, "pass_filter": is_accepted})
        raise AssertionError("unreachable: the last entry returns or raises")

    @classmethod
    def extract_text_or_completion_object(cls, response: Any) -> list[Any]:
        messages = [choice.message for choice in response.choices]
        return [each if each.tool_calls or each.function_call else each.content for each in messages]

    @classmethod
    def instantiate(
        cls, template: Any, context: Mapping[str, Any] | None = None, allow_format_str_template: bool | None = False
    ) -> Any:
        if not context or template is None:
            return template
        if callable(template):
            return template(context)
        return template.format(**context) if allow_format_str_template and isinstance(template, str) else template


def _request(options: Mapping[str, Any]) -> ModelRequest:
    messages, prompt = options["messages"], options["prompt"]
    if (messages is None) == (prompt is None):
        raise ConfigError("create() takes either messages or a prompt")
    template = options["context"], options["allow_format_str_template"]
    conversation = tuple(
        {**message, "content": OpenAIWrapper.instantiate(message.get("content"), *template)}
        for message in messages or [{"role": "user", "content": prompt}]
    )
    return ModelRequest(conversation, tuple(options["tools"] or ()), tuple(options["functions"] or ()))
