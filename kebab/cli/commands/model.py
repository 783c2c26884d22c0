"""`kebab model list|pull|use`."""

from collections.abc import Callable
from typing import TypeAlias

import click

from kebab.app.facade import Kebab
from kebab.cli.command import Command, Group
from kebab.cli.render.models import draw_list, draw_report
from kebab.cli.session import Session
from kebab.cli.work import working
from kebab.config.model import AUTO
from kebab.core.cancel import Cancel
from kebab.core.progress import Report
from kebab.errors.signal import Exit
from kebab.wire.model import (
    ModelListRequest,
    ModelPullRequest,
    ModelReport,
    ModelUseRequest,
)

Work: TypeAlias = Callable[[Kebab, Report, Cancel], ModelReport]


@click.group("model", cls=Group, examples=("kebab model list",))
def command() -> None:
    """List, fetch or change the embedding model."""


@command.command("list", cls=Command, examples=("kebab model list",))
@click.pass_obj
def list_(session: Session, /) -> Exit:
    """List every embedding model, with the one in use marked."""
    with session.kebab() as kebab:
        reply = kebab.model_list(ModelListRequest())
    return session.answer(reply, draw_list)


@command.command("pull", cls=Command, examples=("kebab model pull multilingual-e5-small",))
@click.argument("model", metavar="[NAME]", default=AUTO)
@click.pass_obj
def pull(session: Session, /, model: str) -> Exit:
    """Fetch the weights of a model, so that it can be used without a network.

    Without NAME, or as `auto`, the best model that can be had.
    """
    request = ModelPullRequest(name=model)
    return _worked(
        session,
        lambda kebab, report, cancel: kebab.model_pull(request, report=report, cancel=cancel),
    )


@command.command("use", cls=Command, exits=(Exit.UNUSABLE,), examples=("kebab model use auto",))
@click.argument("model", metavar="NAME")
@click.pass_obj
def use(session: Session, /, model: str) -> Exit:
    """Change the model of the knowledge base and embed everything again.

    Words are searched meanwhile. `auto` takes the model that the settings name, else the best that
    can be had.
    """
    request = ModelUseRequest(name=model)
    return _worked(
        session,
        lambda kebab, report, cancel: kebab.model_use(request, report=report, cancel=cancel),
    )


def _worked(session: Session, /, work: Work) -> Exit:
    settings = session.settings()
    with working(session) as (shown, cancel):
        with session.kebab(settings) as kebab:
            reply = work(kebab, shown, cancel)
        status = Exit.INTERRUPTED if cancel.requested and reply.pending else Exit.DONE
        shown.finish(status, cancelled=status is not Exit.DONE)
    return session.answer(reply, draw_report, status)
