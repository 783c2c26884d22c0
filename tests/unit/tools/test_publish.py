import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kebab
from tools import publish

EXIT = "frozen: not_indexed: exit changed from 3 to 1"

BLOCKS = {"README.md": "topics", "docs/README.md": "commands", "docs/settings.md": "settings"}


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A folder with everything that is published, and the files; neither is to be changed."""
    folder = tmp_path_factory.mktemp("published")
    pages = Path("docs/wire-schema/errors")
    shutil.copytree(Path(kebab.__file__).parents[1] / pages, folder / pages)
    for page, block in BLOCKS.items():
        (folder / page).write_text(f"<!-- {block} -->\nstale words\n<!-- /{block} -->\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish, "_ROOT", folder)
        assert publish.main([]) == 0
        return folder, [*publish.list_files()]


@pytest.fixture
def checkout(published, tmp_path, monkeypatch):
    folder, files = published
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(publish, "_ROOT", tmp_path)
    monkeypatch.setattr(publish, "list_files", lambda: files)  # it takes half a second
    return tmp_path


def test_what_was_just_written_passes_the_check(checkout, capsys):
    assert publish.main(["--check"]) == 0
    assert capsys.readouterr().out == ""


def test_one_changed_letter_is_found_and_named(checkout, capsys):
    schema = checkout / "docs/wire-schema/v1/search_hit.v1.schema.json"
    schema.write_text(schema.read_text().replace("passage", "passagee", 1))

    assert publish.main(["--check"]) == 1
    assert "search_hit.v1.schema.json" in capsys.readouterr().out


def test_a_file_that_no_declaration_owns_is_found(checkout, capsys):
    (checkout / "docs/wire-schema/v1/stray.schema.json").write_text("{}")

    assert publish.main(["--check"]) == 1
    assert "no owner" in capsys.readouterr().out


def test_every_code_has_a_page_and_every_page_a_code(checkout, capsys):
    pages = checkout / "docs/wire-schema/errors"
    (pages / "locked.md").rename(pages / "bolted.md")

    assert publish.main(["--check"]) == 1
    told = capsys.readouterr().out
    assert "not explained: docs/wire-schema/errors/locked.md" in told
    assert "no such code: docs/wire-schema/errors/bolted.md" in told


def test_a_broken_lock_cannot_be_written_over(checkout, capsys):
    lock = checkout / "docs/wire-schema/v1/errors.lock.json"
    lock.write_text(lock.read_text().replace('"http": 409', '"http": 410', 1))

    assert publish.main([]) == 1
    assert "frozen: embedding_mismatch: http changed from 410 to 409" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--check"], []])
def test_what_is_new_is_reported(checkout, capsys, arguments):
    lock = checkout / "docs/wire-schema/v1/errors.lock.json"
    released = json.loads(lock.read_text())
    del released["model_busy"]
    lock.write_text(json.dumps(released))

    status = publish.main(arguments)

    assert status == bool(arguments)
    assert capsys.readouterr().out.splitlines()[0] == "added: model_busy"


def test_a_schema_that_nobody_generates_any_more_is_found_and_removed(checkout, capsys):
    stray = checkout / "docs/wire-schema/v1/gone.v1.schema.json"
    stray.write_text("")

    assert publish.main(["--check"]) == 1
    assert f"no owner: {stray}" in capsys.readouterr().out
    assert publish.main([]) == 0
    assert not stray.exists()


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the tree, as a developer would change it."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("kebab", "tools", "docs", "migrations"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(publish._ROOT / name, folder / name, ignore=ignored)
    shutil.copy(publish._ROOT / "README.md", folder)
    return folder


def checked(folder):
    return subprocess.run(
        [sys.executable, "-P", "-m", "tools.publish", "--check"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_program_refuses_a_broken_promise(copy):
    catalog = copy / "kebab/errors/catalog.py"
    whole = catalog.read_text()
    before = "STATE_VIOLATION, Exit.UNUSABLE"
    assert whole.count(before) == 1
    catalog.write_text(whole.replace(before, "STATE_VIOLATION, Exit.NO"))

    done = checked(copy)

    assert (done.returncode, done.stdout.splitlines()) == (1, [EXIT]), done.stderr


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("README.md", "](docs/settings.md)"),
        ("docs/README.md", "`kebab search`"),
        ("docs/settings.md", "`search.limit = 10`"),
    ],
)
def test_blocks_of_pages_are_generated(checkout, page, text):
    written = (checkout / page).read_text()

    assert "stale words" not in written
    assert text in written


def test_the_checkout_is_the_one_that_holds_the_package():
    assert (publish._ROOT / "tools").samefile(Path(publish.__file__).parent)
    assert (publish._ROOT / "kebab").samefile(Path(kebab.__file__).parent)
