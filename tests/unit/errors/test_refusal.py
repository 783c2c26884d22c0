from pathlib import Path

import pytest

from kebab.errors.catalog import IoError
from kebab.errors.refusal import refusal, refused


def test_a_refusal_is_told_in_the_words_of_the_system(tmp_path):
    place = tmp_path / "missing"

    with pytest.raises(IoError) as caught, refused(place, "read"):
        place.read_bytes()

    assert caught.value.details() == {
        "path": str(place),
        "op": "read",
        "cause": "No such file or directory",
    }
    assert isinstance(caught.value.__cause__, FileNotFoundError)


def test_a_fault_without_words_of_the_system_speaks_for_itself():
    assert refusal(OSError("cut short"), "write", Path("a.md")).cause == "cut short"


def test_what_is_no_refusal_passes():
    with pytest.raises(ValueError, match="other"), refused("a.md", "read"):
        raise ValueError("other")
