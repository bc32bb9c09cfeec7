import asyncio
import threading
from collections.abc import Callable
from functools import partial

import pytest

from autogen_nb.core.chats.two_agent_chat import Flow
from autogen_nb.effects import Effect
from autogen_nb.events import Answer, CodeAsked, CodeInputAsked, CodeInputGiven, CodeRan, EffectAsked, Event, Question
from autogen_nb.messages import CodeBlock
from autogen_nb.run import Inquiry, InquiryAnswer, OnCaller, OnEngine, World
from tests.driven import adriven, driven

Drive = Callable[..., list[Event]]
both = pytest.mark.parametrize("drive", [driven, adriven], ids=["waited for", "awaited"])
ACT = EffectAsked("user", Effect("network", "api.example.org", "connects to api.example.org"))


def flow() -> Flow:
    answer = yield CodeAsked("user", (CodeBlock("python", "x"),))
    assert isinstance(answer, CodeRan)


async def inquired(
    question: EffectAsked | CodeInputAsked, seen: list[InquiryAnswer], emit: Callable[[Inquiry], None]
) -> Answer:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[InquiryAnswer] = loop.create_future()
    emit(Inquiry(question, lambda given: loop.call_soon_threadsafe(answer.set_result, given)))
    seen.append(await answer)
    return CodeRan(0, inner=(question, seen[0]))


def world(
    question: EffectAsked | CodeInputAsked, answer: InquiryAnswer, seen: list[InquiryAnswer], threads: list[int]
) -> World:
    def answered() -> InquiryAnswer:
        threads.append(threading.get_ident())
        return answer

    def asked(each: Question) -> OnCaller | OnEngine:
        return OnEngine(partial(inquired, question, seen)) if isinstance(each, CodeAsked) else OnCaller(answered)

    return asked


@both
def test_wrong_kind_of_answer_is_an_error(drive: Drive) -> None:
    with pytest.raises(TypeError, match="cannot be answered"):
        drive(flow(), world(ACT, CodeInputGiven("yes"), [], []))
