import pytest

from kebab.config.repository import RepositorySettings
from kebab.errors.catalog import ConfigInvalid


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "docs" / "deep").mkdir(parents=True)
    return tmp_path


def write(tree, name, text):
    (tree / name).write_text(text, encoding="utf-8")


def find(tree, file="repo/docs/deep/a.md", root="repo/docs/deep", **options):
    return RepositorySettings(**options).find(str(tree / file), str(tree / root))


def test_the_nearest_settings_up_to_the_repository_count(tree):
    write(tree, "kebab.toml", "[review]\ndisable = ['todo']\n")
    assert find(tree) is None
    write(tree, "repo/pyproject.toml", "[tool.kebab.review]\ndisable = ['stale-date']\n")
    assert find(tree).review.disable == ["stale-date"]
    write(tree, "repo/docs/pyproject.toml", "[tool.other]\nx = 1\n")
    assert find(tree).folder == str(tree / "repo")
    write(tree, "repo/docs/kebab.toml", "[review.severity]\ntodo = 'error'\n")
    assert find(tree).review.severity == {"todo": "error"}


def test_without_a_repository_the_reviewed_folder_is_the_highest(tree):
    (tree / "plain" / "sub").mkdir(parents=True)
    write(tree, "kebab.toml", "[review]\ndisable = ['todo']\n")
    assert find(tree, "plain/sub/a.md", "plain") is None
    write(tree, "plain/kebab.toml", "[review]\nstale_days = 3\n")
    assert find(tree, "plain/sub/a.md", "plain").review.stale_days == 3


def test_settings_that_must_not_be_read_are_not_there(tree):
    write(tree, "repo/kebab.toml", "[review]\ndisable = ['todo']\n")
    assert find(tree, may_read=lambda _: False) is None


@pytest.mark.parametrize(
    ("name", "text", "cause"),
    [
        ("kebab.toml", "data_dir = 'x'\n", "line 1: a repository has settings under `review` only"),
        ("kebab.toml", "[review]\nkeep_days = 3\n", "line 2: unknown key `review.keep_days`"),
        ("kebab.toml", "[review]\nstale_days = 'x'\n", "line 2: `review.stale_days`: Expected"),
        ("kebab.toml", "[review.severity]\ntodo = 'bad'\n", "`review.severity[...]`: Invalid enum"),
        ("kebab.toml", "[[review.overrides]]\ndisable = []\n", "missing required field `files`"),
        ("kebab.toml", "[", "not TOML: "),
        ("pyproject.toml", "[tool.kebab.review]\nx = 1\n", "unknown key `tool.kebab.review.x`"),
    ],
)
def test_a_fault_names_the_file(tree, name, text, cause):
    write(tree, f"repo/{name}", text)
    with pytest.raises(ConfigInvalid) as raised:
        find(tree)
    assert raised.value.path == str(tree / "repo" / name)
    assert cause in raised.value.cause
