"""Programs for AutoGen 0.2 that run on it and here: what each of them comes to is compared.

They use nothing but the module that they are given, a fake server and typed words, so that `playing.py` can run them
with AutoGen itself. Everything that is compared is in what a scenario returns, in what its models were asked, and in
how often a person was.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Annotated, Any

Record = dict[str, Any]

SCENARIOS: dict[str, Callable[["Stage"], Record]] = {}


def scenario(function: Callable[["Stage"], Record]) -> Callable[["Stage"], Record]:
    SCENARIOS[function.__name__] = function
    return function


class Stage:
    def __init__(self, autogen: Any, base_url: str) -> None:
        self.autogen = autogen
        self._base_url = base_url
        self.replies: dict[str, list[Any]] = {}
        self.requests: list[tuple[str, list[Any]]] = []
        self.typed: list[str] = []
        self.questions = 0

    def llm(self, name: str, replies: Iterable[Any], **more: Any) -> dict[str, Any]:
        self.replies[name] = list(replies)
        entry = {"model": name, "api_key": "none", "base_url": self._base_url, "price": [0, 0]}
        return {"config_list": [entry], "cache_seed": None, **more}

    def input(self, prompt: str = "") -> str:
        self.questions += 1
        return self.typed.pop(0)

    def assistant(self, *replies: Any, name: str = "assistant", cls: Any = None, **more: Any) -> Any:
        settings = {"llm_config": self.llm(name, replies), "system_message": f"You are {name}."}
        return (cls or self.autogen.AssistantAgent)(name, **{**settings, **more})

    def user(self, name: str = "user", cls: Any = None, **more: Any) -> Any:
        settings = {
            "human_input_mode": "NEVER",
            "code_execution_config": False,
            "default_auto_reply": "Go on.",
            "max_consecutive_auto_reply": 3,
        }
        return (cls or self.autogen.UserProxyAgent)(name, **{**settings, **more})


def histories(*agents: Any) -> Record:
    return {agent.name: {peer.name: list(kept) for peer, kept in agent.chat_messages.items()} for agent in agents}


def talk(one: Any, other: Any, message: Any = "Begin.", **more: Any) -> Record:
    result = one.initiate_chat(other, message=message, silent=True, **more)
    return {"histories": histories(one, other), "summary": result.summary, "human_input": result.human_input}


@scenario
def hook_for_all_messages(stage: Stage) -> Record:
    helper = stage.assistant("One.", "Two.", "Three.", "Four.")
    helper.register_hook("process_all_messages_before_reply", lambda messages: messages[-1:])
    return talk(stage.user(), helper)


@scenario
def hook_before_sending(stage: Stage) -> Record:
    user, helper = stage.user(), stage.assistant("One.", "Two.", "Three.", "Four.")
    user.register_hook(
        "process_message_before_send",
        lambda sender, message, recipient, silent: f"{sender.name} to {recipient.name}: {message}",
    )
    return talk(user, helper)


@scenario
def own_send(stage: Stage) -> Record:
    class Loud(stage.autogen.UserProxyAgent):  # type: ignore[misc,name-defined]  # the module is not known here
        def send(self, message: Any, recipient: Any, request_reply: Any = None, silent: Any = False) -> None:
            super().send(str(message).upper(), recipient, request_reply, silent)

    return talk(stage.user(cls=Loud), stage.assistant("One.", "Two.", "Three.", "Four."))


@scenario
def own_receive(stage: Stage) -> Record:
    class Careless(stage.autogen.UserProxyAgent):  # type: ignore[misc,name-defined]  # as above
        def receive(self, message: Any, sender: Any, request_reply: Any = None, silent: Any = False) -> None:
            if message != "Three.":
                super().receive(str(message)[:2], sender, request_reply, silent)

    return talk(stage.user(cls=Careless), stage.assistant("One.", "Two.", "Three.", "Four."))


@scenario
def own_generate_reply(stage: Stage) -> Record:
    class Polite(stage.autogen.AssistantAgent):  # type: ignore[misc,name-defined]  # as above
        def generate_reply(self, messages: Any = None, sender: Any = None, **more: Any) -> Any:
            said = super().generate_reply(messages=messages, sender=sender, **more)
            return None if said is None else f"{said} Thanks."

    return talk(stage.user(), stage.assistant("One.", "Two.", "Three.", "Four.", cls=Polite))


def _once(recipient: Any, **more: Any) -> dict[str, Any]:
    return {"recipient": recipient, "max_turns": 1, "silent": True, **more}


@scenario
def nested_chats(stage: Stage) -> Record:
    writer = stage.assistant("Never.", name="writer")
    critic = stage.assistant("Too long.", "Still too long.", name="critic")
    editor = stage.assistant("Shorter.", "Shortest.", name="editor")
    chats = [_once(critic), _once(editor, message="Edit it.", summary_method="last_msg")]
    writer.register_nested_chats(chats, trigger=stage.autogen.UserProxyAgent)
    user = stage.user(max_consecutive_auto_reply=1)
    return {**talk(user, writer, "A text."), "inner": histories(critic, editor)}


@scenario
def nested_chats_by_functions(stage: Stage) -> Record:
    writer = stage.assistant("Never.", name="writer")
    critic = stage.assistant("Fine.", name="critic")

    def message(recipient: Any, messages: Any, sender: Any, config: Any) -> str:
        return f"{sender.name}: {messages[-1]['content']}"

    chats = [_once(critic, message=message), _once(critic, message=lambda *_: None)]
    writer.register_nested_chats(chats, trigger=lambda sender: sender.name == "user", position=0)
    return {**talk(stage.user(max_consecutive_auto_reply=0), writer, "A text."), "inner": histories(critic)}


@scenario
def chats_in_a_row(stage: Stage) -> Record:
    user = stage.user()
    agents = [stage.assistant(f"Summary {name}.", name=name) for name in ("one", "two", "three")]
    queue = [_once(each, message=f"Task for {each.name}.") for each in agents]
    queue[1]["carryover"] = "Own."
    queue[2]["finished_chat_indexes_to_exclude_from_carryover"] = [0]
    results = user.initiate_chats(queue)
    assert user.get_chat_results() == results
    assert user.get_chat_results(1) is results[1]
    return {"summaries": [each.summary for each in results], "histories": histories(*agents)}


@scenario
def chats_that_wait_for_others(stage: Stage) -> Record:
    user = stage.user()
    agents = [stage.assistant(f"Summary {name}.", name=name) for name in ("one", "two", "three")]
    before: list[list[int]] = [[], [1], [1, 2]]
    queue = [
        _once(each, message=f"Task for {each.name}.", chat_id=number, prerequisites=wanted)
        for number, (each, wanted) in enumerate(zip(agents, before, strict=True), 1)
    ]
    results = asyncio.run(user.a_initiate_chats(queue))
    return {"summaries": [results[number].summary for number in sorted(results)], "histories": histories(*agents)}


@scenario
def summary_by_a_model(stage: Stage) -> Record:
    helper = stage.assistant("One.", "In short.")
    more = {"summary_prompt": "Sum up.", "summary_role": "user"}
    return talk(stage.user(), helper, max_turns=1, summary_method="reflection_with_llm", summary_args=more)


@scenario
def older_functions(stage: Stage) -> Record:
    call = {"content": None, "function_call": {"name": "add", "arguments": {"a": 1, "b": 2}}}
    helper = stage.assistant(call, {"content": None, "function_call": {"name": "none", "arguments": {}}}, "Done.")
    return talk(stage.user(function_map={"add": lambda a, b: f"{a + b}"}, max_consecutive_auto_reply=2), helper)


@scenario
def person_interrupts_a_call(stage: Stage) -> Record:
    call = {"content": None, "tool_calls": [{"id": "c1", "name": "add", "arguments": {"a": 1}}]}

    class Typing(stage.autogen.UserProxyAgent):  # type: ignore[misc,name-defined]  # as above
        def get_human_input(self, prompt: str) -> str:
            self.words = [*getattr(self, "words", ["exit", "Stop that."])]
            return str(self.words.pop())

    record = talk(stage.user(cls=Typing, human_input_mode="ALWAYS"), stage.assistant(call, "Fine."))
    del record["human_input"]  # 0.2 loses what an overridden method said
    return record


@scenario
def reply_functions_alone(stage: Stage) -> Record:
    helper = stage.assistant("Never.")
    helper.register_reply(
        [stage.autogen.Agent, None], lambda *_, **__: (True, "Only this."), remove_other_reply_funcs=True
    )
    return talk(stage.user(max_consecutive_auto_reply=2), helper)


@scenario
def model_step_replaced(stage: Stage) -> Record:
    helper = stage.assistant("Never.", is_termination_msg=lambda message: message["content"] == "Go on.")
    helper.replace_reply_func(stage.autogen.ConversableAgent.generate_oai_reply, lambda *_, **__: (True, "Mine."))
    return talk(stage.user(), helper)


@scenario
def limit_for_one_sender(stage: Stage) -> Record:
    helper, user = stage.assistant("One.", "Two.", "Three."), stage.user(max_consecutive_auto_reply=9)
    helper.update_max_consecutive_auto_reply(2, user)
    limits = [helper.max_consecutive_auto_reply(), helper.max_consecutive_auto_reply(user)]
    return {**talk(user, helper), "limits": [min(limits[0], 100), limits[1]]}


@scenario
def chat_that_goes_on(stage: Stage) -> Record:
    user, helper = stage.user(max_consecutive_auto_reply=1), stage.assistant("One.", "Two.", "Three.", "Four.")
    talk(user, helper)
    return talk(user, helper, "Again.", clear_history=False)


@scenario
def what_is_remembered(stage: Stage) -> Record:
    user, helper = stage.user(max_consecutive_auto_reply=1), stage.assistant("One.", "Two.")
    talk(user, helper)
    last = [helper.last_message(), user.last_message(helper)]
    helper.clear_history(nr_messages_to_preserve=1)
    user.reset()
    return {"last": last, "left": histories(user, helper)}


@scenario
def single_messages(stage: Stage) -> Record:
    user, helper = stage.user(max_consecutive_auto_reply=1), stage.assistant("One.", "Two.", "Three.", "Four.")
    helper.receive("Hello.", user, request_reply=False, silent=True)
    helper.receive("And?", user, request_reply=True, silent=True)
    user.send({"content": "With a name.", "name": "somebody"}, helper, request_reply=True, silent=True)
    said = helper.generate_reply(messages=[{"content": "Only this.", "role": "user"}], sender=user)
    return {"said": said, "histories": histories(user, helper)}


@scenario
def system_message_changed(stage: Stage) -> Record:
    helper = stage.assistant("One.", "Two.")

    def changed(recipient: Any, messages: Any = None, sender: Any = None, config: Any = None) -> Any:
        recipient.update_system_message(f"There are {len(messages)} messages.")
        return False, None

    helper.register_reply([stage.autogen.Agent, None], changed)
    return talk(stage.user(max_consecutive_auto_reply=1), helper)


def _group(
    stage: Stage, method: Any, max_round: int = 6, manager: Any = None, settled: Any = lambda *_: {}, **more: Any
) -> Record:
    agents = [
        stage.assistant(*(f"{name} {number}." for number in range(6)), name=name, description=f"I am {name}.")
        for name in ("alice", "bob", "carol")
    ]
    settings = {"messages": [], "max_round": max_round, "speaker_selection_method": method}
    group = stage.autogen.GroupChat(agents=agents, **settings, **settled(*agents), **more)
    managing = stage.autogen.GroupChatManager(groupchat=group, **{"llm_config": False, **(manager or {})})
    result = agents[0].initiate_chat(managing, message="Begin.", silent=True)
    return {"messages": group.messages, "summary": result.summary, "histories": histories(managing, *agents)}


@scenario
def group_whose_speakers_a_model_selects(stage: Stage) -> Record:
    return _group(stage, "auto", manager={"llm_config": stage.llm("manager", ["bob", "I pick carol.", "alice"] * 2)})


@scenario
def group_by_a_function(stage: Stage) -> Record:
    def chosen(last: Any, group: Any) -> Any:
        return [group.agents[2], "round_robin", group.agents[1], None][len(group.messages) - 1]

    return _group(stage, chosen)


@scenario
def group_ended_by_its_manager(stage: Stage) -> Record:
    ends = {"is_termination_msg": lambda message: "carol" in message["content"]}
    return _group(stage, "round_robin", manager=ends)


@scenario
def group_with_introductions(stage: Stage) -> Record:
    return _group(stage, "round_robin", max_round=3, send_introductions=True)


@scenario
def group_that_repeats_nobody(stage: Stage) -> Record:
    def following(alice: Any, bob: Any, carol: Any) -> dict[str, Any]:
        allowed = {alice: [carol], bob: [alice], carol: [bob, alice]}
        return {"allowed_or_disallowed_speaker_transitions": allowed, "speaker_transitions_type": "allowed"}

    return {"messages": _group(stage, "round_robin", settled=following)["messages"]}


@scenario
def group_begun_by_an_outsider(stage: Stage) -> Record:
    agents = [stage.assistant(f"{name} 0.", f"{name} 1.", name=name) for name in ("alice", "bob")]
    group = stage.autogen.GroupChat(agents=agents, messages=[], max_round=4, speaker_selection_method="round_robin")
    managing = stage.autogen.GroupChatManager(groupchat=group, llm_config=False)
    user = stage.user()
    user.initiate_chat(managing, message="Begin.", silent=True)
    return {"messages": group.messages, "histories": histories(user, *agents)}


def _ends(message: Any) -> bool:
    return "TERMINATE" in (message["content"] or "")


def _typing(stage: Stage, *words: str, replies: Iterable[str], message: Any = "Begin.", **user: Any) -> Record:
    stage.typed = list(words)
    return talk(stage.user(is_termination_msg=_ends, **user), stage.assistant(*replies), message)


def _code(text: str) -> str:
    return f"Here:\n```python\n{text}\n```"


_RUNS = {"code_execution_config": {"work_dir": "work", "use_docker": False}}


@scenario
def code_runs_unseen(stage: Stage) -> Record:
    return _typing(stage, replies=(_code("print(1 + 1)"), "Done. TERMINATE"), **_RUNS)


@scenario
def enter_runs_the_code(stage: Stage) -> Record:
    return _typing(
        stage, "", "", replies=(_code("print('ran')"), "Done. TERMINATE"), human_input_mode="ALWAYS", **_RUNS
    )


@scenario
def enter_ends_a_chat_that_terminates(stage: Stage) -> Record:
    return _typing(stage, "", replies=("Done. TERMINATE",), human_input_mode="TERMINATE")


@scenario
def enter_at_the_limit_is_the_default_reply(stage: Stage) -> Record:
    more = {"human_input_mode": "TERMINATE", "max_consecutive_auto_reply": 1}
    return _typing(stage, "", "", "exit", replies=("One.", "Two.", "Three.", "Four.", "Five."), **more)


@scenario
def words_reset_the_count_of_replies(stage: Stage) -> Record:
    more = {"human_input_mode": "TERMINATE", "max_consecutive_auto_reply": 2}
    return _typing(stage, "Words.", "exit", replies=map(str, range(12)), **more)


@scenario
def nothing_but_exit_ends(stage: Stage) -> Record:
    return _typing(
        stage, "EXIT", " exit", "exit", replies=("One.", "Two.", "Three.", "Four."), human_input_mode="ALWAYS"
    )


@scenario
def first_message_is_typed(stage: Stage) -> Record:
    return _typing(stage, "A task.", "exit", replies=("One.",), message=None, human_input_mode="ALWAYS")


@scenario
def word_that_ends_by_default(stage: Stage) -> Record:
    return talk(stage.user(), stage.assistant("All done. TERMINATE", "TERMINATE ", "TERMINATE"))


@scenario
def default_reply_is_empty(stage: Stage) -> Record:
    return talk(stage.user(default_auto_reply=""), stage.assistant("One.", "Two.", "Three."), max_turns=2)


@scenario
def second_model_replies(stage: Stage) -> Record:
    entries = [
        *stage.llm("first", [{"status": 400, "error": {"message": "No."}}])["config_list"],
        *stage.llm("second", ["From the second."])["config_list"],
    ]
    helper = stage.assistant(llm_config={"config_list": entries, "cache_seed": None})
    return {"said": helper.generate_reply(messages=[{"content": "Begin.", "role": "user"}])}


@scenario
def cached_chat_asks_nothing(stage: Stage) -> Record:
    record: Record = {}
    for _ in range(2):
        helper = stage.assistant(llm_config=stage.llm("model", ["One.", "Two."], cache_seed=77))
        history = stage.user(max_consecutive_auto_reply=1).initiate_chat(helper, message="Begin.").chat_history
        used = [bool(helper.get_actual_usage()), bool(helper.get_total_usage())]
        record[f"{len(stage.requests)} requests"] = {"history": history, "used": used}
    return record


@scenario
def messages_and_what_they_carry_over(stage: Stage) -> Record:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    begun: dict[str, Any] = {
        "text": {"message": "Task.", "carryover": "First."},
        "list": {"message": "Task.", "carryover": ["First.", {"content": "Second."}, 3]},
        "dict": {"message": {"content": "Task.", "context": {"x": 1}, "name": "bob"}},
        "dict with carryover": {"message": {"content": "Task."}, "carryover": "First."},
        "function": {"message": lambda one, other, context: f"{one.name}, {other.name}, {sorted(context)}", "z": 1},
        "picture": {"message": {"content": [{"type": "text", "text": "Task."}, picture]}, "carryover": "First."},
        "number": {"message": "Task.", "carryover": 5},
    }
    record: Record = {}
    for name, more in begun.items():
        try:
            result = stage.user().initiate_chat(stage.assistant("TERMINATE"), max_turns=1, **more)
            record[name] = result.chat_history
        except stage.autogen.exception_utils.InvalidCarryOverType as error:
            record[name] = type(error).__name__
    return record


@scenario
def reply_functions_by_sender(stage: Stage) -> Record:
    called: list[Any] = []

    def telling(name: str, *, final: bool = False) -> Callable[..., Any]:
        def told(recipient: Any, messages: Any = None, sender: Any = None, config: Any = None) -> tuple[bool, str]:
            called.append([name, sender.name, config])
            return final, "Not said."

        return told

    helper = stage.assistant("One.", "Two.", "Three.")
    helper.register_reply([stage.autogen.Agent, None], telling("any"), position=0, config={"k": 1})
    helper.register_reply("user", telling("name"))
    helper.register_reply(lambda sender: sender.name == "nobody", telling("nobody", final=True))
    helper.register_reply(stage.autogen.UserProxyAgent, telling("class"), position=99)
    return {**talk(stage.user(max_consecutive_auto_reply=2), helper), "called": called}


@scenario
def calls_of_tools(stage: Stage) -> Record:
    def add(a: Annotated[int, "first"], b: Annotated[int, "second"] = 2) -> int:
        return a + b

    def bang(x: Annotated[str, "any"]) -> str:
        raise RuntimeError(x)

    def call(name: str, arguments: Any) -> dict[str, Any]:
        return {"id": f"call {name} {arguments}", "name": name, "arguments": arguments}

    helper = stage.assistant(
        {"content": None, "tool_calls": [call("add", {"a": 1}), call("bang", {"x": "q"})]},
        {"content": "Words.", "tool_calls": [call("nope", {}), call("add", {"b": "x"})]},
        "Done.",
    )
    user = stage.user(max_consecutive_auto_reply=2)
    for function in (add, bang):
        stage.autogen.register_function(function, caller=helper, executor=user, description="It adds.")
    return talk(user, helper)
