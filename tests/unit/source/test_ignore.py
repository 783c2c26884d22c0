import pytest

from kebab.core.files import ScanRules
from kebab.source.ignore import find_skip_reason_from_root
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
