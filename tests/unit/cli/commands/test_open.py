from typing import ClassVar

import pytest

from kebab.app.last_hits import get_hits_path, store_hits
from kebab.cli.channels import OutputChannel
from kebab.config.load import load_settings
from kebab.wire.fetch import FetchList, FetchRequest
from tests.fakes import replies
from tests.fakes.console import run
from tests.fakes.facade import FakeKebab

FILE = "/home/ada/ops/backup.md"


class Shelf(FakeKebab):
    """Finds one file for every reference but those that are nowhere."""

    changes: ClassVar[dict[str, object]] = {}

    def fetch(self, request: FetchRequest) -> FetchList:
        self._note("fetch", request)
        found = replies.fetch_result(**{"file": FILE, **self.changes})
        results = [
            replies.not_found(ref) if ref in ("nowhere", replies.CHUNK) else found
            for ref in request.refs
        ]
        return FetchList(results=results, missing=0, truncated=False)


@pytest.fixture
def shelf(monkeypatch):
    opened = []

    def open_file(*arguments, **changes):
        monkeypatch.setattr(Shelf, "changes", changes)

        def opener(*given, **flags):
            opened.append(Shelf(*given, **flags))
            return opened[-1]

        return run("open", *arguments, opener=opener)

    monkeypatch.setenv("EDITOR", "vim")
    open_file.opened = opened  # type: ignore[attr-defined]
    return open_file


def test_the_command_is_printed_without_running_it(shelf):
    ran = shelf("backup.md:12", "--print")

    assert (ran.status, ran.out, ran.err) == (0, f"vim +12 {FILE}\n", "")
    assert shelf.opened[0].asked == [("fetch", FetchRequest(refs=["backup.md:12"]))]


def test_a_number_is_the_rank_of_a_hit_of_the_last_search(shelf):
    store_hits(
        load_settings(),
        replies.response(replies.hit(1), replies.hit(2), sources={"notes": "/home/ada"}),
    )
    ran = shelf("2", "--print")

    assert (ran.status, ran.out) == (0, f"vim +12 {FILE}\n")
    refs = shelf.opened[0].asked[0][1].refs
    assert refs == [replies.CHUNK, f"{FILE}#L12"]


@pytest.mark.parametrize(
    ("ref", "changes", "message"),
    [
        ("nowhere", {}, "no document named nowhere"),
        ("a.md", {"freshness": "gone"}, "the file is gone: ops/backup.md"),
        ("a.md", {"file": None}, "this text has no file: ops/backup.md"),
    ],
)
def test_what_cannot_be_opened_is_explained(shelf, ref, changes, message):
    ran = shelf(ref, **changes)

    assert (ran.status, ran.out) == (1, f"{message}\n")


@pytest.mark.parametrize(
    ("flags", "terminal", "stored"),
    [
        ([], True, True),
        ([], False, False),
        (["--json"], True, False),
        (["--read-only"], True, False),
        (["--format", "compact"], True, False),
    ],
)
def test_a_search_stores_its_hits_for_a_person_only(
    kebab, home, monkeypatch, flags, terminal, stored
):
    monkeypatch.setattr(OutputChannel, "is_terminal", property(lambda _: terminal))
    kebab("search", "restore", *flags)

    assert get_hits_path(load_settings()).exists() is stored
