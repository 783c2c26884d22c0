import pytest

from kebab.search.query_form import is_question


@pytest.mark.parametrize(
    "text",
    ["how to restore", "restore it?", "and then where", "복원하나요", "何ですか", "什么是快照"],
)
def test_a_question_is_recognized(text):
    assert is_question(text)


@pytest.mark.parametrize("text", ["restore snapshot", "the dialog that shows where", "快照 恢复"])
def test_other_text_is_no_question(text):
    assert not is_question(text)
