import pytest

from kebab.core.files import (
    MAX_EXAMPLES,
    OcrSettings,
    SkipCounts,
    cut_root,
    is_below,
    join_root,
    resolve_folder_links,
    resolve_links,
)


def test_only_the_first_names_of_a_reason_are_stored():
    skips = SkipCounts()

    for number in range(10):
        skips.add("hidden", f".{number}")

    assert skips.by_reason == {"hidden": 10}
    assert skips.examples == {"hidden": [f".{number}" for number in range(MAX_EXAMPLES)]}


def test_merging_adds_counts_and_keeps_few_examples():
    one, two = SkipCounts(), SkipCounts()
    one.add("hidden", ".a")
    for number in range(5):
        two.add("hidden", f".{number}")
    two.add("unsupported", "b.png")
    two.by_extension[".png"] += 1

    one.merge(two)

    assert one.total == 7
    assert one.examples["hidden"] == [".a", ".0", ".1"]
    assert one.by_extension == {".png": 1}


def test_a_file_may_take_as_long_as_twenty_slow_pages():
    assert OcrSettings("eng", 5.0).deadline_s == 100.0
    assert OcrSettings("eng", 0.0).deadline_s == 0.0


@pytest.mark.parametrize("root", ["/notes", "/"])
def test_a_path_below_a_root_is_joined_and_cut(root):
    whole = join_root(root, "sub/a.md")

    assert is_below(whole, root)
    assert cut_root(whole, root) == "sub/a.md"


def test_a_link_keeps_its_name_and_its_folder_does_not(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "link").symlink_to("target")

    found = resolve_folder_links(str(tmp_path / "folder" / "link"))

    assert found == join_root(resolve_links(str(tmp_path / "real")), "link")
    assert resolve_folder_links("/") == "/"
