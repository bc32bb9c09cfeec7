from typing import Any

from autogen_nb.notebook.view.slots import Slots


def _page(published: list[dict[str, Any]]) -> list[str]:
    places: dict[str, str] = {}
    for output in published:
        places[output["transient"]["display_id"]] = output["data"]["text/plain"]
    return list(places.values())


def _shown(slots: Slots, *texts: str) -> None:
    for text in texts:
        slots.next().show({"text/plain": text}, {})


def test_cleared_place_takes_no_room(published: list[dict[str, Any]]) -> None:
    slots = Slots()
    _shown(slots, *(str(number) for number in range(35)))
    last = slots.next()
    last.show({"text/plain": "gone"}, {})
    last.clear()
    slots.tidy()

    assert "gone" not in "".join(_page(published))
