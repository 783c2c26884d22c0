import stat

import pytest

from kebab.app.last_hits import find_hit, get_hits_path, store_hits
from kebab.config.load import load_settings
from kebab.wire.record import NotFound
from tests.fakes import replies


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return load_settings(environ={}, flags={"data_dir": str(tmp_path / "data")})


def test_only_its_owner_can_read_the_file_and_it_is_replaced(settings):
    for count in (5, 1):
        store_hits(settings, replies.response(*[replies.hit(rank) for rank in range(1, count + 1)]))
    path = get_hits_path(settings)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert isinstance(find_hit(settings, 2), NotFound)


def test_each_knowledge_base_has_its_own(settings, tmp_path):
    other = load_settings(environ={}, flags={"data_dir": str(tmp_path / "other")})
    store_hits(settings, replies.response(replies.hit(1)))

    assert isinstance(find_hit(other, 1), NotFound)


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([], "the last search has no hit 7: it found nothing"),
        ([1], "the last search has no hit 7: it has 1 hit"),
        ([11, 12], "the last search has no hit 7: it has hits 11 to 12"),
    ],
)
def test_a_rank_that_was_not_shown_is_explained(settings, ranks, message):
    store_hits(settings, replies.response(*[replies.hit(rank) for rank in ranks]))
    found = find_hit(settings, 7)

    assert isinstance(found, NotFound)
    assert (found.name, found.error.message) == ("7", message)


@pytest.mark.parametrize("data", [b"", b'{"version":2,"hits":[]}', b'{"version":1,"hits":[[1]]}'])
def test_a_damaged_file_is_no_fault(settings, data):
    store_hits(settings, replies.response())
    get_hits_path(settings).write_bytes(data)
    found = find_hit(settings, 1)

    assert isinstance(found, NotFound)
    assert found.error.message == "the last hits cannot be read: search again"
