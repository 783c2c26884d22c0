"""Asking: a request becomes an inquiry, and an answer becomes the reply."""

from collections.abc import Callable

from kebab.app.compose import Workshop
from kebab.wire.ask import Answer, AnswerEvent, AskRequest


def ask(shop: Workshop, request: AskRequest, tell: Callable[[AnswerEvent], None]) -> Answer:
    """Return an answer or a refusal."""
    raise NotImplementedError
