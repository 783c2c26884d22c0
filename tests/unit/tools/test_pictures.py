import pytest

from tools.pictures import FOLDER, build_pictures


@pytest.fixture(scope="module")
def pictures():
    return build_pictures()


def test_the_pictures_show_the_samples_and_nothing_of_this_machine(pictures):
    assert set(pictures) == {FOLDER / f"{name}.svg" for name in ("search", "answer", "doctor")}
    assert "backups.md" in pictures[FOLDER / "search.svg"]
    assert not any("/tmp" in picture for picture in pictures.values())


def test_the_pictures_are_the_same_each_time(pictures):
    assert build_pictures() == pictures
