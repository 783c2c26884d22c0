import pytest

from tools.archives import Attack


@pytest.fixture
def attack(tmp_path):
    return Attack(tmp_path, 3)


def test_changed_archives_kills_and_edits_leave_a_whole_knowledge_base(attack):
    for _ in range(25):
        assert [*attack.change_bytes()] == []
    assert [*attack.kill()] == []
    assert [*attack.export_while_busy()] == []
    assert attack.rounds["bytes: store_corrupt"] > 15
    assert attack.rounds["busy: imported"] == 3


def test_an_archive_of_another_state_is_noticed(attack):
    attack.states["new"] = frozenset()
    archive = attack.archive.read_bytes()
    # A change of a time stamp in the list of members changes no content.
    at = archive.rindex(b"PK\x01\x02") + 12
    attack.random = type(
        "Fixed",
        (),
        {
            "randint": lambda *_: 1,
            "randrange": lambda _, n: at if n > 8 else 0,
            "choice": lambda _, kinds: kinds[0],
        },
    )()
    assert "other passages" in next(attack.change_bytes())
