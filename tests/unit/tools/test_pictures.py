import pytest

from tools.pictures import FOLDER, build_pictures, draw_terminal, split_styles


def test_a_coloured_line_is_split_by_its_styles():
    parts = split_styles("a \x1b[33m\x1b[1mb\x1b[0m c")

    assert [part for part in parts if part[1]] == [("", "a "), ("yellow bold", "b"), ("", " c")]


def test_each_part_begins_at_its_column():
    picture = draw_terminal("kebab x", ["백업 \x1b[1mb & c\x1b[0m"])

    assert '<tspan x="58.0" class="bold">b &amp; c</tspan>' in picture


@pytest.fixture(scope="module")
def pictures():
    return build_pictures()


def test_the_pictures_show_the_samples_and_nothing_of_this_machine(pictures):
    assert set(pictures) == {FOLDER / f"{name}.svg" for name in ("search", "answer", "doctor")}
    assert "backups.md" in pictures[FOLDER / "search.svg"]
    assert not any("/tmp" in picture for picture in pictures.values())


def test_the_pictures_are_the_same_each_time(pictures):
    assert build_pictures() == pictures
