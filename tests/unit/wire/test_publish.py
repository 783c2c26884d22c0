from pathlib import Path

import pytest

from kebab.wire import publish


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(publish, "_ROOT", tmp_path)
    (tmp_path / "README.md").write_text("<!-- settings -->\nstale words\n<!-- /settings -->\n")
    publish.main([])
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


def test_a_broken_lock_cannot_be_written_over(checkout, capsys):
    lock = checkout / "docs/wire-schema/v1/errors.lock.json"
    lock.write_text(lock.read_text().replace('"http": 409', '"http": 410', 1))

    assert publish.main([]) == 1
    assert "its meaning changed" in capsys.readouterr().out


def test_blocks_of_the_readme_are_generated(checkout):
    text = (checkout / "README.md").read_text()

    assert "stale words" not in text
    assert "`search.limit`" in text


def test_the_checkout_is_the_one_that_holds_the_package():
    assert (publish._ROOT / "kebab").samefile(Path(publish.__file__).parents[1])
