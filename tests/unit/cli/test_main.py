import os
import subprocess
import sys

from kebab import __version__
from tests.fakes.console import run


def kebab(*arguments, **environ):
    return subprocess.run(
        [sys.executable, "-m", "kebab", *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_version_alone_does_not_even_load_click():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "kebab", "--version"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout) == (0, f"kebab {__version__}\n")
    assert "click" not in done.stderr


def test_an_early_interruption_is_reported_as_json_when_requested(home, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kebab.cli.main._dispatch", interrupted)
    ran = run("list", "--json")

    assert (ran.status, ran.fault["code"]) == (130, "cancelled")


def test_a_shell_is_given_completions(home):
    done = kebab(_KEBAB_COMPLETE="bash_complete", COMP_WORDS="kebab sea", COMP_CWORD="1")

    assert done.stdout == "plain,search\n"
