"""What clients of servers may learn: nothing about files outside of the indexed folders."""

import os
import re
import shutil
from contextlib import suppress

import msgspec
import pytest

from kebab.app.library import inspect_doc
from kebab.app.review import review
from kebab.config.load import load_settings
from kebab.core.progress import Cancel
from kebab.errors.signal import Signal
from kebab.server.requests import KebabPool, report_failure
from kebab.wire.library import InspectDocRequest
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import NotFound, encode_json
from kebab.wire.review import ReviewRequest
from kebab.wire.search import FilteredRequest
from tests.examples import REQUESTS

CANARY = "xylophonecanary"
PATHS = (
    "{out}/file.md",
    "{out}/folder",
    "{out}/folder/in.md",
    "{out}/folder/**/*.md",
    "{out}/FILE.MD",
    "{out}/file.md/.",
    "{notes}/../out/file.md",
    "{notes}/link.md",
    "{notes}/folder/in.md",
    "{notes}/fol*/*.md",
)
SKIPPED = {"doctor", "model_list", "session_list", "session_show"}
WORDS = {"query", "queries", "question", "pattern", "lines", "cursor", "model", "session"}
_PASSING = re.compile(
    r'"(?:\w*timing\w*|timestamp|\w+_id|took_ms|elapsed_ms|latency_ms|created_at|updated_at|pending_vectors|checked_at|cursor|next_cursor)":'
    r'(?:"[^"]*"|null|[\d.]+|\{[^{}]*\})'
)


@pytest.fixture
def shelf(desk):
    outside = desk.folder / "out"
    (outside / "folder").mkdir(parents=True)
    for name in ("file.md", "folder/in.md"):
        (outside / name).write_text(f"# {CANARY}\n\nThis is teh {CANARY}.\n" * 2_000)
    desk.write("a.md", "# Garden\n\nThe cat sleeps.\n")
    (desk.notes / "link.md").symlink_to(outside / "file.md")
    (desk.notes / "folder").symlink_to(outside / "folder")
    (outside / "link.md").symlink_to(desk.notes / "a.md")
    desk.ingest()
    return desk


@pytest.fixture
def kebab(shelf):
    pool = KebabPool(shelf.config, 4)
    settings = load_settings(environ={}, flags=shelf.flags)
    with pool.lease(settings) as leased:
        yield leased
    pool.close()


def list_questions(path):
    """Yield each reading request with the path in one of its fields of text."""
    for name, request in REQUESTS.items():
        is_asked = OPERATIONS[name].effect == "reads" and not OPERATIONS[name].local
        if not is_asked or name in SKIPPED:
            continue
        fields = msgspec.to_builtins(request)
        # One operation stands for all that filter.
        shared = set(FilteredRequest.__struct_fields__) if name != "list" else set()
        for field in msgspec.structs.fields(type(request)):
            for value in (path, [path]) if field.name not in WORDS | shared else ():
                with suppress(msgspec.ValidationError):
                    asked = msgspec.convert({**fields, field.encode_name: value}, type(request))
                    yield f"{name}.{field.name} {path}", asked


def ask(kebab, request):
    """Return the reply without what passes."""
    try:
        reply = kebab.run(request)
    except Signal as fault:
        reply = report_failure("test", fault, None)
    text = encode_json(reply).decode()
    assert CANARY not in text
    return _PASSING.sub("", text)


def test_no_operation_tells_whether_there_is_something_outside(shelf, kebab):
    outside = shelf.folder / "out"
    paths = [path.format(out=outside, notes=shelf.notes) for path in PATHS]
    questions = dict(question for path in paths for question in list_questions(path))
    assert len(questions) > 100

    there = {name: ask(kebab, request) for name, request in questions.items()}
    shutil.rmtree(outside)
    gone = {name: ask(kebab, request) for name, request in questions.items()}
    told = [(name, there[name], gone[name]) for name in there if there[name] != gone[name]]
    assert not told, (len(told), *told[0])


def test_no_operation_tells_where_another_user_lives(kebab, monkeypatch):
    expand = os.path.expanduser

    def expand_somebody(path):
        return expand(str(path).replace("~somebody", "/home/secret"))

    monkeypatch.setattr("os.path.expanduser", expand_somebody)

    for _, request in list_questions("~somebody/a.md"):
        assert "/home/secret" not in ask(kebab, request)


def test_a_client_is_not_told_why_a_file_is_not_in_the_index(kebab, shelf):
    request = InspectDocRequest(name=str(shelf.folder / "out" / "file.md"))

    replies = [kebab.run(request), inspect_doc(shelf.context(), request)]
    client, owner = (one.error.message for one in replies if isinstance(one, NotFound))
    assert "no such document" in client
    assert "no folder that kebab reads" in owner


def test_a_run_on_a_file_outside_is_not_continued(kebab, shelf):
    path = str(shelf.folder / "out" / "file.md")
    run = review(
        shelf.context(), ReviewRequest(names=[path], no_llm=True), lambda _: None, Cancel()
    )
    assert not isinstance(run, NotFound)
    with pytest.raises(Signal, match="no folder of the index"):
        kebab.run(ReviewRequest(run_id=run.run_id))


@pytest.mark.parametrize("path", ["a/" * 100_000, "{notes}/" + "a/" * 100_000])
def test_a_path_of_endless_parts_is_not_resolved(kebab, shelf, path):
    request = InspectDocRequest(name=path.format(notes=shelf.notes))

    assert isinstance(kebab.run(request), NotFound)
