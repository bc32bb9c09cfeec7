"""Chooses the model of a cell: the cell's own, the model form's, or that of the environment; else opens the form."""

import asyncio
import os
from typing import Any

from autogen_nb import run
from autogen_nb.models.config import model_connection
from autogen_nb.models.config.address import host_of
from autogen_nb.notebook.asking.person import KEY_NEEDED, NOT_CONFIGURED, AbsentPerson, ModelForm
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.settings import Settings


async def choose_model(stage: CellStage, settings: Settings, *, again: bool = False) -> Any:
    """Returns the spec of the cell's model; notes which host gets which data, once for each host.

    With `again`, the last request failed, and the form opens with its error.
    """
    setting, named = stage.notebook.model_setting, settings.options.get("model")
    # A keyring may wait until the person unlocks it.
    recalled = await run.result(asyncio.to_thread(setting.recall, os.environ), waits=stage.waits)
    for remark in (recalled, setting.drop_if_replaced(os.environ)):
        if remark:
            stage.view.note(remark)
    spec = setting.choose(named, os.environ)
    failure = "" if isinstance(stage.person, AbsentPerson) else setting.failure_of(spec)
    # After a failed request, the person must consent to another one; an explicit -m is consent.
    if spec is None or (failure and (again or named is None)):
        proposal = setting.proposal(named, os.environ)
        lacks_key = setting.without_key is not None and not failure
        what = KEY_NEEDED.format(host=host_of(proposal.base_url), model=proposal.model) if lacks_key else NOT_CONFIGURED
        head = f"{failure} Your task is kept." if failure else what
        form = ModelForm(head, proposal, only_key=lacks_key)
        connection = await stage.ask(lambda person: person.connection(form))
        if connection.model == "offline":
            # The choice applies to this task only.
            spec = "offline"
        else:
            remark = await run.result(asyncio.to_thread(setting.use_form, connection, os.environ), waits=stage.waits)
            if remark:
                stage.view.note(remark, tone="warning")
            spec = setting.choose(connection.model, os.environ)
    if failure:
        setting.forget_failure()
    announced, share = stage.notebook.announced, settings.share
    for host in model_connection.hosts(spec, os.environ):
        if (host, share) not in announced:
            announced.add((host, share))
            stage.view.note(model_connection.disclosure(host, rows=share == "rows"), kind="host")
    return spec or ""
