"""Every edit gives a note a word that is nowhere else, and says what searches must find."""

import pytest

from tools.surfaces.edits import EditedNotes, find_faults, find_old_faults


@pytest.fixture
def notes(tmp_path):
    return EditedNotes(tmp_path / "notes" / "edited", tmp_path / "notes", 3, 1)


def test_every_note_has_its_own_word(notes, tmp_path):
    words = {edit.path: edit.word for edit in notes.list_settled(0)}

    assert len(set(words.values())) == 3
    for path, word in words.items():
        assert word in (tmp_path / "notes" / path).read_text(encoding="utf-8")


def test_an_edit_replaces_the_word_of_a_note(notes, tmp_path):
    before = {edit.path: edit for edit in notes.list_settled(0)}
    edit = notes.edit()

    text = (tmp_path / "notes" / edit.path).read_text(encoding="utf-8")
    assert (edit.old, edit.word in text) == (before[edit.path].word, True)
    assert before[edit.path].word not in text
    assert notes.is_last(edit)
    assert not notes.is_last(before[edit.path])
    assert len(list((tmp_path / "notes" / "edited").iterdir())) == 3


def test_an_edit_settles_after_some_time(notes):
    assert notes.list_settled(60) == []


def test_the_note_must_be_the_first_hit_and_the_old_word_must_be_gone(notes):
    edit = notes.edit()
    hit, other = {"doc_path": edit.path}, {"doc_path": "other.md"}

    assert list(find_faults({"hits": [hit, other]}, edit)) == []
    assert list(find_faults({"hits": [other, hit]}, edit))
    assert list(find_faults({"hits": []}, edit))
    assert list(find_old_faults({"hits": [hit], "absent_terms": [edit.old]}, edit)) == []
    assert list(find_old_faults({"hits": [hit], "absent_terms": []}, edit))
    assert list(find_old_faults({"hits": [hit]}, edit)) == []
