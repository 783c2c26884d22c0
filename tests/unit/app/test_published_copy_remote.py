import pytest

from kebab.app.bases import search_all
from kebab.app.doctor import check_health
from kebab.app.library import list_sources
from kebab.app.published import add_source
from kebab.app.search import search_once
from kebab.config.settings import find_copy_folder
from kebab.core.progress import ignore_progress
from kebab.store.published import mirror
from kebab.store.sqlite import remote
from kebab.wire.health import DoctorRequest
from kebab.wire.library import SourceListRequest
from kebab.wire.published import SourceAddRequest
from kebab.wire.search import SearchRequest

NOTES = {
    f"{name}.md": f"# {name}\n\nThe {name} sleeps.\n\n## Food\n\nIt eats {name}food.\n"
    for name in ("cat", "dog", "hen", "fox", "owl")
}


@pytest.fixture
def dest(publish_notes):
    return publish_notes("docs", NOTES)


def open_remote(desk, dest, **flags):
    return desk.context(data_dir=f"file://{dest}", published__mode="remote", **flags)


def find(context, query):
    response = search_once(context, SearchRequest(query=query))
    return [hit.doc_path for hit in response.hits], response


def test_a_base_is_searched_without_a_copy_as_with_one(desk, dest):
    near = desk.context(data_dir=f"file://{dest}", published__mode="pull")
    far = open_remote(desk, dest)
    for query in ("what does the fox eat", "owlfood", '"hen sleeps"', "cat -dog", "sleeps"):
        expected, copy = find(near, query)
        found, response = find(far, query)
        assert found == expected
        assert [hit.score for hit in response.hits] == [hit.score for hit in copy.hits]
        assert "remote" in response.degraded[-1].reason
    folder = find_copy_folder(f"file://{dest}") / "remote"
    assert not [*(folder / "packs").iterdir()]


def test_what_was_read_is_searched_offline_and_the_rest_is_an_error(desk, dest, monkeypatch):
    monkeypatch.setattr(mirror, "CHECK_S", 0.0)
    first, _ = find(open_remote(desk, dest), "owlfood")
    moved = dest.rename(dest.with_name("moved"))
    context = open_remote(desk, dest)
    again, response = find(context, "owlfood")

    assert again == first == ["owl.md"]
    assert any("the copy of" in one.reason for one in response.degraded)
    assert context.published.mode == "remote"
    moved.rename(dest)


def test_a_new_snapshot_is_read_as_a_whole_once_it_is_looked_for(desk, dest, publish_notes):
    context = open_remote(desk, dest)
    assert find(context, "zebra")[0] == []
    publish_notes("docs", {"new.md": "# New\n\nA zebra arrives.\n"})
    context.follow_published()
    assert find(context, "zebra")[0] == []
    context.published.build_mirror().forget_check()
    context.follow_published()

    assert find(context, "zebra")[0] == ["new.md"]
    assert find(context, "owlfood")[0] == ["owl.md"]


def test_the_size_decides_unless_the_base_is_known_here(desk, dest):
    url = f"file://{dest}"
    assert desk.context(data_dir=url).published.mode == "pull"
    assert desk.context(data_dir=url, published__remote_from_mb=1).published.mode == "pull"
    find(open_remote(desk, dest), "owlfood")
    assert desk.context(data_dir=url).published.mode == "remote"


def test_a_listed_base_says_that_it_is_remote(desk, dest):
    added = add_source(
        desk.context(), SourceAddRequest(url=str(dest), mode="remote"), ignore_progress
    )
    assert added.base.mode == "remote"
    assert added.pulled_bytes > 0
    context = desk.context()
    (base,) = list_sources(context, SourceListRequest()).published
    response = search_all(context, SearchRequest(query="owlfood"))

    assert (base.mode, base.documents) == ("remote", 5)
    assert [hit.base for hit in response.hits] == ["docs"]
    assert "docs: remote" in response.degraded[-1].reason


def test_words_that_were_not_looked_up_are_named(desk, dest, monkeypatch):
    context = open_remote(desk, dest)
    find(context, "owlfood")
    monkeypatch.setattr(remote, "WORD_BYTES", -1)
    _, response = find(context, "hen sleeps")
    assert response.degraded[-1].reason.endswith("were not looked up: `hen`, `sleep`")


def test_doctor_reads_no_base_as_a_whole(desk, dest):
    context = open_remote(desk, dest)
    find(context, "owlfood")
    health = check_health(context, DoctorRequest())
    states = {check.name: (check.status, check.summary) for check in health.checks}

    assert states["integrity"][0] == "ok"
    assert states["vectors"][0] == states["full_text"][0] == "skip"
    assert "remote" in states["vectors"][1]
