"""What a notebook and a terminal show for a team that is the last line of a cell."""

import re
import time
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from IPython.core.formatters import DisplayFormatter

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.group_chat import GroupChat
from autogen_nb.agents.teams.function_tool import Handoff
from autogen_nb.agents.teams.graph_flow import DiGraphBuilder, GraphFlow
from autogen_nb.agents.teams.model_led_teams import MagenticOneGroupChat, SelectorGroupChat
from autogen_nb.agents.teams.team_chats import Swarm
from autogen_nb.testing import ScriptedModel
from autogen_nb.views.team_drawing import Arrow, Drawing, Node
from tests.agents.teams import assistant, by_turns, says

MODEL = ScriptedModel([])


def shown(team: Any) -> dict[str, str]:
    bundle, _ = DisplayFormatter(active_types=["text/plain", "text/html"]).format(team)
    return dict(bundle)


def elements(html: str, tag: str) -> list[ET.Element]:
    return list(ET.fromstring(html).iter(tag))


def heights(html: str) -> dict[str, float]:
    return {str(each.text): float(each.attrib["y"]) for each in elements(html, "text")}


def heads(html: str) -> list[str]:
    """The directions of the heads of arrows."""
    found = re.findall(r'd="M[-\d.]+,([-\d.]+)h8L[-\d.]+,([-\d.]+)z"', html)
    return ["down" if float(back) < float(tip) else "up" for back, tip in found]


def members(*names: str) -> list[Any]:
    return [says(name) for name in names]


def swarm() -> Swarm:
    handoffs = ["agent", Handoff("user", name="ask_the_customer")]
    return Swarm([assistant("desk", handoffs=handoffs), assistant("agent", handoffs=["desk"])])


def group(**settings: Any) -> GroupChat:
    return GroupChat([ConversableAgent(name, llm_config=False) for name in "abc"], **settings)


def by_transitions() -> GroupChat:
    a, b, c = agents = [ConversableAgent(name, llm_config=False) for name in "abc"]
    transitions = {a: [b, a], b: [a, c], c: []}
    return GroupChat(agents, allowed_or_disallowed_speaker_transitions=transitions, speaker_transitions_type="allowed")


def reviewed(condition: Any = "REVISE") -> GraphFlow:
    writer, reviewer, editor, checker, publisher = agents = members("writer", "reviewer", "editor", "checker", "end")
    builder = DiGraphBuilder()
    for agent in agents:
        builder.add_node(agent)
    builder.add_edge(writer, reviewer).add_edge(reviewer, writer, condition, activation_group="again")
    builder.add_edge(reviewer, editor, lambda message: "OK" in message.to_text()).add_edge(reviewer, checker, "OK")
    builder.add_edge(editor, publisher).add_edge(checker, publisher).set_entry_point(writer)
    return GraphFlow(agents, builder.build(), max_turns=9)


@pytest.mark.parametrize(
    ("team", "lines"),
    [
        (by_turns(*members("a", "b", "c")), ["start -> a", "a -> b", "b -> c", "c -> a"]),
        (swarm(), ["start -> desk", "desk -> agent, user (ask_the_customer)", "agent -> desk"]),
        (SelectorGroupChat(members("a", "b"), MODEL), ["a -> a model", "a model -> a, b", "b -> a model"]),
        (
            MagenticOneGroupChat(members("a"), MODEL),
            ["MagenticOneOrchestrator -> a", "a -> MagenticOneOrchestrator"],
        ),
        (group(speaker_selection_method="round_robin"), ["a -> b", "b -> c", "c -> a"]),
        (group(speaker_selection_method=max), ["a -> max", "max -> a, b, c", "b -> max", "c -> max"]),
        (by_transitions(), ["a -> a, b", "b -> a, c"]),
        (
            reviewed(),
            [
                "start -> writer",
                "writer -> reviewer",
                'reviewer -> writer ("REVISE"), editor ("OK" in message.to_text()), checker ("OK")',
                "editor -> end (and)",
                "checker -> end (and)",
            ],
        ),
    ],
    ids=["turns", "swarm", "selector", "magentic", "ring", "function", "transitions", "graph"],
)
def test_a_terminal_shows_who_speaks_after_whom(team: Any, lines: list[str]) -> None:
    bundle = shown(team)

    assert bundle["text/plain"].splitlines() == lines
    assert elements(bundle["text/html"], "svg")[0].attrib["aria-label"] == " ".join(lines)


def test_a_graph_goes_down_and_its_loop_goes_up() -> None:
    html = shown(reviewed())["text/html"]
    found = heights(html)
    order = ["start", "writer", "reviewer", "editor", "end"]

    assert sorted(order, key=found.__getitem__) == order
    assert found["writer"] < found['"REVISE"'] < found["reviewer"] < found['"OK"'] < found["editor"] == found["checker"]
    assert sorted(heads(html)) == ["down"] * 6 + ["up"]


def test_a_target_outside_a_swarm_is_drawn_as_such() -> None:
    boxes = [each.attrib["style"] for each in elements(shown(swarm())["text/html"], "rect")]

    assert ["dasharray" in style for style in boxes] == [False, False, True]


def test_those_who_hand_over_to_each_other_share_a_line_with_two_heads() -> None:
    assert heads(shown(by_turns(*members("a", "b")))["text/html"]) == ["down", "down", "up"]


def test_names_and_conditions_are_only_text() -> None:
    condition = "</text><script>alert('$x$')</script>\u202e" + "long " * 50
    html = shown(reviewed(condition))["text/html"]
    titles = [str(each.text) for each in elements(html, "title")]
    texts = [str(each.text) for each in elements(html, "text")]

    assert "<script" not in html
    assert "\u202e" not in html
    assert titles[0].startswith("\"</text><script>alert('$x$')</script>[U+202E]long long long")
    assert max(map(len, texts)) <= 36
    # Otherwise, MathJax would typeset the dollars.
    assert "mathjax_ignore" in elements(html, "div")[0].attrib["class"]


def test_a_hundred_nodes_take_no_time_and_too_many_are_text() -> None:
    nodes = [Node(f"agent {number}") for number in range(400)]
    tree = [Arrow(nodes[number // 3], nodes[number], f"case {number}") for number in range(1, 100)]
    loops = [Arrow(nodes[number], nodes[number // 5]) for number in range(50, 100)]
    begin = time.perf_counter()
    html = Drawing(nodes[:100], tree + loops).html()
    full = Drawing(nodes[:100], [Arrow(one, other) for one in nodes[:100] for other in nodes[:100]]).html()
    many = Drawing(nodes, [Arrow(nodes[0], nodes[1])]).html()

    assert time.perf_counter() - begin < 2
    assert len(elements(html, "rect")) == 100
    assert len({(each.attrib["x"], each.attrib["y"]) for each in elements(html, "rect")}) == 100
    assert "agent 0 -&gt; agent 0, agent 1," in full
    assert many.count("<pre>agent 0 -&gt; agent 1</pre>") == 1
