"""What an administrator may change: models, rules, challengers, versions. Each change is an entry of the log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from lopsided.constraints import ParameterError
from lopsided.serve import entries as log
from lopsided.serve.configuration import checked_decision, checked_learner
from lopsided.serve.messages import ChallengerSettings, Decision, Done, ModelSettings, VersionName
from lopsided.serve.requests import Change
from lopsided.serve.sequencing import Sequencer
from lopsided.serve.web.responses import decoded, house_of, json_response, model_of
from lopsided.serve.web.submissions import answered


async def make(request: Request) -> Response:
    """Make a model."""
    settings = await decoded(request, ModelSettings)
    name = request.path_params["name"]
    # Learners are compiled when they are checked: others must not wait for it.
    is_new = await asyncio.to_thread(house_of(request).make, name, settings)
    return json_response(Done(name, house_of(request).model(name).written), 201 if is_new else 200)


async def decide(request: Request) -> Response:
    """Another rule for alerts."""
    decision = checked_decision(await decoded(request, Decision))
    return await _changed(request, lambda _: log.DecisionChanged(decision))


async def challenge(request: Request) -> Response:
    """A challenger, which begins anew."""
    chosen = await asyncio.to_thread(checked_learner, await decoded(request, ChallengerSettings))
    return await _changed(request, lambda _: log.Challenged(chosen))


async def dismiss(request: Request) -> Response:
    """No challenger any more."""
    return await _changed(request, lambda sequencer: _if_challenged(sequencer, log.Challenged(None)))


async def promote(request: Request) -> Response:
    """The challenger becomes the champion."""
    return await _changed(request, lambda sequencer: _if_challenged(sequencer, log.Promoted()))


async def keep_version(request: Request) -> Response:
    """A name for the champion as it is."""
    name, model = (await decoded(request, VersionName)).name, model_of(request)

    def entry(sequencer: Sequencer) -> log.Entry:
        if name in sequencer.versions:
            raise ParameterError(f"The name of a version must be new. Got {name!r}, which model {model.name!r} has.")
        return log.VersionMade(name)

    return await _changed(request, entry)


async def roll_back(request: Request) -> Response:
    """The champion becomes what it was; a version that cannot be read is refused before it is an entry of the log."""
    name, model = (await decoded(request, VersionName)).name, model_of(request)
    await asyncio.to_thread(model.versions.check, name)

    def entry(sequencer: Sequencer) -> log.Entry:
        if name not in sequencer.versions:
            known = ", ".join(sequencer.versions) or "none"
            raise ParameterError(f"The version must be one of: {known}. Got {name!r}.")
        return log.RolledBack(name)

    return await _changed(request, entry)


def _if_challenged(sequencer: Sequencer, entry: log.Entry) -> log.Entry:
    if not sequencer.has_challenger:
        raise ParameterError("The model must have a challenger. Got one without.")
    return entry


async def _changed(request: Request, make_entry: Callable[[Sequencer], log.Entry]) -> Response:
    model, change = model_of(request), Change(make_entry)
    await answered(model, change)
    return json_response(Done(model.name, change.sequence))
