"""The facade implements the registry, opens stores late, and refuses writes when read only."""

import inspect
import typing

import pytest

from kebab.app.facade import Kebab
from kebab.config.load import load_settings
from kebab.core.progress import Cancel
from kebab.wire.ingest import IngestRequest
from kebab.wire.operations import OPERATIONS
from tests.examples import ARGUMENTS, REQUESTS

READS = [name for name, one in OPERATIONS.items() if one.effect == "reads"]
"""What works without a knowledge base."""

NEEDS_MORE = {"translate", "export", "publish"}
"""What needs a server, or a folder for its file."""


def call(kebab, name):
    return kebab.run(REQUESTS[name])


def test_a_handler_takes_and_returns_what_its_row_declares():
    for operation in OPERATIONS.values():
        signature = inspect.signature(operation.import_handler())
        names = [
            name.lstrip("_")
            for name, parameter in signature.parameters.items()
            if parameter.kind is not parameter.KEYWORD_ONLY
        ]
        context, request = (one.annotation for one in list(signature.parameters.values())[:2])

        assert names == [
            "context",
            "request",
            *(["report"] if operation.events else []),
            *(["cancel"] if operation.cancellable else []),
        ]
        assert (_name(context), _name(request)) == ("AppContext", operation.request.__name__)
        assert _name(signature.return_annotation) == " | ".join(
            one.__name__ for one in operation.replies
        )


def _name(annotation):
    if isinstance(annotation, str):
        return annotation
    return " | ".join(one.__name__ for one in typing.get_args(annotation) or (annotation,))


def test_every_operation_has_an_example():
    assert ARGUMENTS.keys() == OPERATIONS.keys()
    assert {name: type(one) for name, one in REQUESTS.items()} == {
        name: one.request for name, one in OPERATIONS.items()
    }


@pytest.fixture
def opened(lab):
    """What opens a knowledge base of the desk."""

    def build(*, read_only=False):
        settings = load_settings(environ={}, flags=lab.flags)
        return Kebab(settings, config_path=lab.config, read_only=read_only)

    return build


@pytest.fixture
def filled(lab, opened):
    lab.write("a.md", "# Cat\n\nthe cat sleeps\n")
    with opened() as kebab:
        kebab.run(IngestRequest(paths=[str(lab.notes)]))
    return lab


@pytest.mark.parametrize("name", [name for name in READS if name not in NEEDS_MORE])
def test_read_only_reads_and_changes_nothing(filled, opened, name):
    before = filled.tree()
    with opened(read_only=True) as kebab:
        call(kebab, name)

    assert filled.tree() == before


def test_a_cancelled_run_is_passed_on(lab):
    lab.write("a.md", "the cat\n")
    cancel = Cancel()
    cancel.request()
    kinds: list[str] = []
    with Kebab(load_settings(environ={}, flags=lab.flags), config_path=lab.config) as kebab:
        report = kebab.run(
            IngestRequest(paths=[str(lab.notes)]),
            report=lambda event: kinds.append(event.kind),
            cancel=cancel,
        )

    assert report.cancelled
    assert kinds[-1] == "aborted"
