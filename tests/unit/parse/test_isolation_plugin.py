"""Whole plugins are run by `tests/unit/test_plugins_packages.py`."""

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.limits.worker import Limits
from kebab.parse import isolation
from kebab.parse.isolation import PluginParser, parse_guarded
from kebab.plugins import Plugin

MODULE = """
from kebab.core.media import MediaType
from kebab.errors.catalog import ParseFailed
from kebab.parse.blocks import TextBuilder
from kebab.plugins import Format

class Parser:
    version = "x-v1"

    def parse(self, data, path):
        if not data:
            raise ParseFailed(path=path, parser=self.version, cause="odd")
        builder = TextBuilder()
        builder.add_paragraph("first")
        while data == b"loop":
            pass
        return builder.build(path)

FORMAT = Format(MediaType("application/x-x", "x", (".x",)), Parser())
"""
PARSER = PluginParser(Plugin("x", "kebab_x:FORMAT", "kebab-x", "1.0"), "x-v1")


@pytest.fixture
def parse(monkeypatch, tmp_path):
    (tmp_path / "kebab_x.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return lambda data: parse_guarded(PARSER, data, "a.x", Limits(0.5, 0))


def test_the_part_before_a_limit_is_kept(parse):
    document = parse(b"loop")

    assert document.text.strip() == "first"
    assert "ingest.deadline_s" in document.warnings[0]


def test_without_a_worker_the_file_is_refused(parse, monkeypatch):
    def fail(*_):
        raise OSError

    monkeypatch.setattr(isolation, "WorkerProcess", fail)
    with pytest.raises(ParseFailed, match="no worker process can be started"):
        parse(b"text")


def test_the_versions_of_the_parser_and_of_its_package_are_the_recipe():
    assert PARSER.recipe == "x-v1 kebab-x 1.0"
    assert PARSER.isolated
