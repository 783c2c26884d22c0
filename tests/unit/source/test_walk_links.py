from kebab.core.files import ScanRules
from kebab.source.walk import Entry, Target, resolve_link

RULES = ScanRules()


def link(root, name, target):
    path = root / name
    path.symlink_to(target)
    return Entry(name, str(path), None)


def test_a_target_that_no_scan_would_find_is_returned(tmp_path):
    (tmp_path / ".hidden.md").write_text("text", encoding="utf-8")

    target = resolve_link(link(tmp_path, "a.md", ".hidden.md"), str(tmp_path), RULES, set())

    assert isinstance(target, Target)
    assert target.real == str(tmp_path / ".hidden.md")
    assert not target.folder
    assert target.stat.st_size == 4


def test_a_link_with_a_readable_name_to_a_file_without_one_is_followed(tmp_path):
    (tmp_path / "page.zip").write_text("text", encoding="utf-8")

    target = resolve_link(link(tmp_path, "readme.md", "page.zip"), str(tmp_path), RULES, set())

    assert isinstance(target, Target)
