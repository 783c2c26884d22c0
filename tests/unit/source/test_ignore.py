import pytest

from kebab.core.files import ScanRules
from kebab.source.ignore import explain_skip, find_skip_reason_from_root
from kebab.wire.library import SkipRule
from tests.shape.libraries import list_own_exceptions

DEFAULT = ScanRules()


@pytest.fixture
def tree(tmp_path):
    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return str(tmp_path)

    return write


def reason(root, path, rules=DEFAULT, *, folder=False):
    return find_skip_reason_from_root(root, rules, path, folder=folder)


def test_the_nearest_file_decides(tree):
    root = tree({".gitignore": "*.txt\n", "keep/.gitignore": "!*.txt\n"})

    assert reason(root, "a.txt") == "ignored"
    assert reason(root, "keep/a.txt") is None


def test_kebabignore_takes_a_built_in_exclude_and_a_hidden_file_back(tree):
    root = tree({".kebabignore": "!node_modules/\n!.github/\n!.notes.md\n"})

    assert reason(root, "node_modules/x.md") is None
    assert reason(root, ".github/x.md") is None
    assert reason(root, ".notes.md") is None


@pytest.mark.parametrize("broken", ["!", "[z-a]", "\\", "[[:alpha:]]x", "# comment", "   "])
def test_a_broken_line_spoils_neither_its_neighbours_nor_the_terminal(tree, broken):
    root = tree({".gitignore": f"{broken}\na.md\n"})

    assert reason(root, "a.md") == "ignored"
    assert reason(root, "b.md") is None


def test_names_with_backslashes_brackets_and_line_breaks_are_matched_as_they_are(tree):
    root = tree({".gitignore": "back*\n\\[a-z].md\n"})

    assert reason(root, "back\\slash.md") == "ignored"
    assert reason(root, "[a-z].md") == "ignored"
    assert reason(root, "new\nline.md") is None


def test_every_exception_of_the_library_is_one_that_is_caught_or_of_other_work():
    others = {
        "AlreadyRegisteredError": "of adding kinds of patterns",
        "RecursionError": "of walking folders, which kebab does itself",
    }

    raised = {
        kind.__name__
        for kind in list_own_exceptions("pathspec")
        if not issubclass(kind, ValueError)
    }

    assert raised == set(others)


@pytest.mark.parametrize(
    ("path", "folder", "cause"),
    [
        ("deep/x.ign", False, ("ignored", "deep/x.ign", "deep/.gitignore", 3, "*.ign", None)),
        ("out/deep/a.md", False, ("ignored", "out", ".kebabignore", 1, "/out", None)),
        ("a.tmp", False, ("excluded", "a.tmp", None, None, "*.tmp", "ingest.exclude")),
        ("x/node_modules/a.md", False, ("excluded", "x/node_modules", None, None, None, None)),
        (".git", True, ("excluded", ".git", None, None, None, None)),
        (".a.md", False, ("hidden", ".a.md", None, None, None, "ingest.hidden")),
        ("deep/kept.ign", False, None),
    ],
)
def test_the_rule_that_decides_is_named(tree, path, folder, cause):
    root = tree({"deep/.gitignore": "# a comment\n\n*.ign\n!kept.ign\n", ".kebabignore": "/out\n"})
    found = explain_skip(root, ScanRules(exclude=("*.tmp",)), path, folder=folder)

    if cause is None:
        assert found is None
        return
    reason_, entry, file, line, pattern, setting = cause
    file = file and f"{root}/{file}"
    rule = SkipRule(path=entry, file=file, line=line, pattern=pattern, setting=setting)
    assert found == (reason_, rule)
    assert reason_ == reason(root, path, ScanRules(exclude=("*.tmp",)), folder=folder)
