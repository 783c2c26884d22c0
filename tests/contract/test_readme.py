import re

from tests.shape.tree import ROOT

_README = (ROOT / "README.md").read_text(encoding="utf-8")
_FIRST, _SECOND = re.findall(r"```sh\n(.+)\n```", _README)[:2]


def test_the_gate_runs_the_test_command_of_the_readme_to_the_letter():
    gate = [
        line.strip() for line in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    ]

    assert _SECOND in gate
    assert _SECOND.endswith("pytest")


def test_the_first_command_installs_ingests_searches_and_answers_from_what_is_shipped():
    assert "pip install" in _FIRST
    (folder,) = re.findall(r"kebab ingest (\S+)", _FIRST)
    assert list((ROOT / folder).rglob("*.md"))
    assert "kebab search" in _FIRST
    assert "kebab ask --extractive" in _FIRST
