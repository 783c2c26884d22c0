import os

import pytest

from tools.powercut.check import MERGED, Lab, Situation, Verdict, run_apart
from tools.powercut.session import write_note

NOTE = "notes/a.md"


def test_a_fork_returns_its_result_and_leaves_nothing(tmp_path):
    assert run_apart(lambda: os.environ.setdefault("ONLY_THERE", "x")) == "x"
    assert "ONLY_THERE" not in os.environ


def test_a_fork_that_fails_is_an_error(capfd):
    with pytest.raises(RuntimeError, match="ended with 1"):
        run_apart(lambda: 1 // 0)


def test_every_fault_counts():
    assert Verdict(lost=["a"], doubled=["b"], wrong=["c"]).faults == ["a", "b", "c"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    return Lab(tmp_path_factory.mktemp("lab"))


@pytest.mark.parametrize(
    ("left", "allowed", "fault"),
    [
        ({NOTE: b"old"}, b"new", None),
        ({NOTE: b"new", f"{NOTE}.orig": b"old"}, b"new", None),
        ({NOTE: b"new"}, b"new", "the original"),
        ({NOTE: b""}, b"new", "the content"),
        ({}, b"new", "a file"),
    ],
)
def test_a_file_of_the_person_is_old_or_new_and_the_original_is_left(lab, left, allowed, fault):
    from tools.powercut.check import _find_lost_files

    lab.clear()
    for name, data in left.items():
        (lab.home / name).parent.mkdir(exist_ok=True)
        (lab.home / name).write_bytes(data)

    found = _find_lost_files(lab.home, Situation("apply", {NOTE: b"old"}, {NOTE: allowed}, {}))

    assert [line.startswith(fault) for line in found] == ([True] if fault else [])


def test_an_entry_in_the_file_of_another_program_needs_no_copy(lab):
    from tools.powercut.check import _find_lost_files

    lab.clear()
    (lab.home / MERGED).parent.mkdir()
    (lab.home / MERGED).write_bytes(b"new")
    situation = Situation("settings", {MERGED: b"old"}, {MERGED: b"new"}, {})

    assert _find_lost_files(lab.home, situation) == []


def damage_nothing(_):
    pass


def remove_vectors(home):
    (next((home / "data" / "lance").glob("*.lance")) / "_versions").rename(home / "gone")
    (home / "gone").rename(home / "data" / "gone")


@pytest.mark.parametrize(
    ("damage", "wrong"), [(damage_nothing, []), (remove_vectors, ["embedded 3 for 0 new texts"])]
)
def test_a_home_is_compared_with_a_clean_run(lab, damage, wrong):
    lab.clear()
    write_note(lab.home, "a.md", "one")
    files = {NOTE: (lab.home / NOTE).read_bytes()}
    first = lab.check(Situation("first", files, files, {}))
    assert (first.faults, first.embedded) == ([], 3)
    run_apart(lambda: lab._run_clean(files, first.library["version"], has_text=False))
    damage(lab.home)

    verdict = lab.check(Situation("edit", files, files, files))

    assert verdict.wrong == wrong
    assert (verdict.lost, verdict.doubled) == ([], [])
