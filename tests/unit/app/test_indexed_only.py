"""What clients of servers may learn: nothing about files outside of the indexed folders."""

import json
import os
import re

import msgspec
import pytest

from kebab.app.dispatch import KebabPool, report_failure
from kebab.app.explain_paths import explain_paths
from kebab.config.load import load_settings
from kebab.errors.signal import Signal
from kebab.wire.library import ExplainPathsRequest
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import encode_json
from kebab.wire.review import ReviewRequest
from tests.examples import REQUESTS

CANARY = "xylophonecanary"
PAIRS = {
    "file": ("{out}/known.md", "{out}/other.md"),
    "folder": ("{out}/known", "{out}/other"),
    "file in a folder": ("{out}/known/in.md", "{out}/other/in.md"),
    "large file": ("{out}/large.md", "{out}/small.md"),
    "parent": ("{notes}/../out/known.md", "{notes}/../out/other.md"),
    "link": ("{notes}/known-link.md", "{notes}/other-link.md"),
    "below a link": ("{notes}/known-folder/in.md", "{notes}/known-folder/no.md"),
    "link to a link": ("{out}/known-link.md", "{out}/other-link.md"),
    "home": ("~root/known.md", "~nobody-has-this-name/known.md"),
    "trailing dot": ("{out}/known.md/.", "{out}/other.md/."),
    "case": ("{out}/KNOWN.MD", "{out}/OTHER.MD"),
    "pattern": ("{out}/kno*.md", "{out}/oth*.md"),
    "everything": ("{out}/known/**", "{out}/other/**"),
}
_PASSING = re.compile(
    r'"(?:\w*timing\w*|timestamp|\w+_id|took_ms|elapsed_ms|checked_at|cursor|next_cursor)":'
    r'(?:"[^"]*"|null|[\d.]+|\{[^{}]*\})'
)


@pytest.fixture
def shelf(desk):
    outside = desk.folder / "out"
    (outside / "known").mkdir(parents=True)
    for name in ("known.md", "known/in.md"):
        (outside / name).write_text(f"# {CANARY}\n\nThis is teh {CANARY}.\n")
    (outside / "large.md").write_text(f"{CANARY} " * 50_000)
    desk.write("a.md", "# Garden\n\nThe cat sleeps.\n")
    links = {
        desk.notes / "known-link.md": outside / "known.md",
        desk.notes / "other-link.md": outside / "other.md",
        desk.notes / "known-folder": outside / "known",
        outside / "known-link.md": outside / "known.md",
        outside / "other-link.md": outside / "other.md",
    }
    for link, target in links.items():
        link.symlink_to(target)
    desk.ingest()
    return desk


@pytest.fixture
def kebab(shelf):
    pool = KebabPool(indexed_only=True)
    settings = load_settings(environ={}, flags=shelf.flags)
    with pool.lease(settings, config_path=shelf.config) as leased:
        yield leased
    pool.close()


def list_questions(path):
    """Yield each reading request with the path in one of its fields of text."""
    for name, request in REQUESTS.items():
        if OPERATIONS[name].effect != "reads" or name in {"doctor", "model_list"}:
            continue
        fields = msgspec.to_builtins(request)
        for field in msgspec.structs.fields(type(request)):
            for value in (path, [path]):
                try:
                    yield (
                        name,
                        field.name,
                        msgspec.convert({**fields, field.encode_name: value}, type(request)),
                    )
                except msgspec.ValidationError:
                    continue


def ask(kebab, name, request, paths):
    """Return the reply without the path itself and without what passes."""
    try:
        reply = kebab.run(request)
    except Signal as fault:
        reply = report_failure(name, fault, None).reply
    text = encode_json(reply).decode()
    assert CANARY not in text
    for path in paths:
        for form in (path, os.path.normpath(path), os.path.basename(path).partition(".")[0]):
            text = text.replace(json.dumps(form, ensure_ascii=False)[1:-1], "PATH")
    return _PASSING.sub("", text)


@pytest.mark.parametrize("kind", PAIRS)
def test_no_operation_tells_what_is_outside_from_what_is_not_there(shelf, kebab, kind):
    places = {"out": str(shelf.folder / "out"), "notes": str(shelf.notes)}
    known, other = (path.format(**places) for path in PAIRS[kind])
    pairs = zip(list_questions(known), list_questions(other), strict=True)

    told = [
        (name, field, one, two)
        for (name, field, first), (_, _, second) in pairs
        if (one := ask(kebab, name, first, (known, other)))
        != (two := ask(kebab, name, second, (known, other)))
    ]
    assert not told, told[0]


def test_a_path_outside_has_no_size_no_hint_and_no_resolved_name(kebab, shelf):
    path = str(shelf.folder / "out" / "large.md")

    (found,) = kebab.run(ExplainPathsRequest(paths=[path])).paths
    assert (found.reason, found.size, found.hint, found.file) == ("no_source", None, None, path)
    (shell,) = explain_paths(shelf.context(), ExplainPathsRequest(paths=[path])).paths
    assert (shell.size, shell.hint) == (800_000, f"kebab ingest {path}")


def test_files_of_the_folders_are_explained_and_reviewed(kebab, shelf):
    path = str(shelf.notes / "a.md")

    assert kebab.run(ExplainPathsRequest(paths=[path])).paths[0].included
    assert kebab.run(ReviewRequest(names=[path], no_llm=True)).document.doc_path == path


def test_a_run_on_a_file_outside_is_not_continued(kebab, shelf):
    from kebab.app.review import review
    from kebab.core.progress import Cancel

    path = str(shelf.folder / "out" / "known.md")
    run = review(
        shelf.context(), ReviewRequest(names=[path], no_llm=True), lambda _: None, Cancel()
    )
    with pytest.raises(Signal, match="no folder of the index"):
        kebab.run(ReviewRequest(run_id=run.run_id))
