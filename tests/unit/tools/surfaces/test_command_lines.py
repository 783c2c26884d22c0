"""A command line means exactly what the request says that it was written from."""

from typing import Any, ClassVar

import msgspec
import pytest

from kebab.app.dispatch import decode_operation_request
from kebab.config.settings import Settings
from kebab.wire.operations import OPERATIONS
from tests.fakes.console import run
from tests.fakes.facade import FakeKebab
from tools.surfaces.command_lines import CommandLine, InexpressibleError, build_command_line
from tools.surfaces.random_requests import RequestMaker

CALLS = 25
"""Random requests for each operation."""

BORROWED = {"model_use"}
"""Operations whose double notes the request of another one."""


class Recorder(FakeKebab):
    """Notes the requests of every call in one list."""

    requests: ClassVar[list[Any]] = []

    def _note(self, what: str, request: Any) -> None:
        del what
        self.requests.append(request)


@pytest.mark.parametrize("operation", sorted(OPERATIONS.keys() - BORROWED))
def test_a_command_line_sends_the_request_that_it_was_written_from(operation):
    maker = RequestMaker(7, {})
    written = 0
    for _ in range(CALLS):
        fields = maker.make_valid(operation)
        try:
            line = build_command_line(operation, fields)
        except InexpressibleError:
            continue
        written += 1
        Recorder.requests.clear()

        done = run("--json", *line.arguments, stdin=line.stdin, opener=Recorder)

        wanted = decode_operation_request(operation, msgspec.json.encode(fields), Settings())
        assert Recorder.requests in ([], [wanted]), (line, done.err)
        assert "usage_invalid" not in done.err, (line, done.err)
    assert written


@pytest.mark.parametrize(
    ("operation", "fields", "line"),
    [
        (
            "search",
            {"query": "-x", "limit": 3, "tag": ["a", "b"], "rerank": False},
            CommandLine(
                ("search", "--no-rerank", "--limit=3", "--tag=a", "--tag=b", "--", "-x"),
            ),
        ),
        ("rank", {"query": "x", "lines": ["a", ""]}, CommandLine(("rank", "--", "x"), b"a\n\n")),
        ("list", {}, CommandLine(("list", "--limit=100"))),
        ("outline", {"limit": None}, CommandLine(("outline", "--all"))),
        (
            "why",
            {"name": "a.md", "search": {"query": "x", "mode": "lexical"}},
            CommandLine(("why", "--mode=lexical", "--", "x", "a.md")),
        ),
        (
            "ingest_text",
            {"text": "eA==", "title": "T"},
            CommandLine(("ingest", "--stdin", "--title=T"), b"x"),
        ),
        ("source_rm", {"name": "notes"}, CommandLine(("source", "rm", "--yes", "--", "notes"))),
    ],
)
def test_a_request_is_written_with_the_flags_of_its_command(operation, fields, line):
    assert build_command_line(operation, fields) == line


@pytest.mark.parametrize(
    ("operation", "fields"),
    [
        ("search", {"query": "-"}),
        ("search", {"query": "x", "folder": "/notes"}),
        ("list", {"folder": "/notes"}),
        ("fetch", {"refs": ["doc"]}),
        ("rm", {"names": []}),
        ("rm", {"names": ["\0"]}),
        ("rank", {"query": "x", "lines": ["a\nb"]}),
        ("grep", {"pattern": "x", "max_columns": 0}),
        ("reset", {"dry_run": True}),
        ("ingest", {"vector_seconds": 1}),
    ],
)
def test_what_flags_cannot_say_is_refused(operation, fields):
    with pytest.raises(InexpressibleError):
        build_command_line(operation, fields)
