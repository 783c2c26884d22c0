from kebab.core.files import (
    SkipCounts,
    join_root,
    resolve_folder_links,
    resolve_links,
)


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


def test_a_link_keeps_its_name_and_its_folder_does_not(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "link").symlink_to("target")

    found = resolve_folder_links(str(tmp_path / "folder" / "link"))

    assert found == join_root(resolve_links(str(tmp_path / "real")), "link")
    assert resolve_folder_links("/") == "/"
