import sys

import pytest

from kebab.cli.commands.open import open_browser, start_program
from kebab.errors.catalog import DependencyMissing, IoError

URL = "http://127.0.0.1:7717/login?ticket=1&q=a"


def test_the_named_browser_gets_the_address(tmp_path):
    program = 'import sys; open(sys.argv[1], "w").write(sys.argv[2])'
    open_browser(URL, {"BROWSER": f"{sys.executable} -c '{program}' {tmp_path}/x"})

    assert (tmp_path / "x").read_text() == URL


def test_a_program_that_fails_at_once_is_an_error_and_one_that_runs_on_is_none(
    monkeypatch, tmp_path
):
    monkeypatch.setattr("kebab.cli.commands.open._WAIT_S", 20)
    with pytest.raises(IoError, match="status 3"):
        start_program([sys.executable, "-c", "raise SystemExit(3)"], "x")
    with pytest.raises(DependencyMissing):
        start_program(["/nowhere/program"], "x")
    with pytest.raises(IoError):
        start_program(["/"], "x")
    monkeypatch.setattr("kebab.cli.commands.open._WAIT_S", 0.2)
    waits = "import pathlib, sys, time\nwhile pathlib.Path(sys.argv[1]).exists(): time.sleep(0.1)"
    (tmp_path / "open").touch()
    start_program([sys.executable, "-c", waits, str(tmp_path / "open")], "x")
    (tmp_path / "open").unlink()
