import json
import tomllib
from pathlib import Path

import pytest
import yaml

from kebab.cli.commands.install import EntryError, change_entry

JSON, TOML, YAML = Path("settings.json"), Path("config.toml"), Path("config.yaml")
PLACE = "servers"
ENTRY = {"command": "/usr/bin/kebab", "args": ["mcp", "--data-dir", '/한글 "x"']}


def set_toml(text):
    return change_entry(TOML, text, PLACE, ENTRY)


def test_json_keeps_values_and_indentation():
    done = change_entry(
        JSON, '{\n\t"theme": 1.5,\n\t"servers": {\n\t\t"a": {}\n\t}\n}', PLACE, ENTRY
    )

    assert str(done).startswith('{\n\t"theme": 1.5,\n\t"servers": {\n\t\t"a": {}')
    assert json.loads(str(done))["servers"] == {"a": {}, "kebab": ENTRY}


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('{\n  "a": 1, // mine\n}', "line 2, column 11: it is no JSON, or it has comments"),
        ('{"a": 1, "a": 2}', "a key occurs twice"),
        ("[1]", "it is no object"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_json_that_an_edit_would_change_is_refused(text, cause):
    with pytest.raises(EntryError) as refused:
        change_entry(JSON, text, PLACE, ENTRY)
    assert cause in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "model = 1",
        "# mine\n[servers.other] # one\nargs = [\n  'x', # two\n]\n# end",
        '[tui]\r\nlong = """\r\n# inside\r\n"""\r\n',
        "[servers.kebab]\n# mine\ncommand = 'old'\n\n# of the next\n[tui]\nx = 1\n",
        "[servers.kebab]\ncommand = 'old'\n\n[servers.kebab.env]\nA = '1'\n",
    ],
)
def test_toml_keeps_every_other_line(text):
    done = set_toml(text) or ""

    values, before = tomllib.loads(done), tomllib.loads(text)
    entry = values["servers"].pop("kebab")
    kept = before.get("servers", {}).pop("kebab", {})
    assert entry == {**kept, **ENTRY}
    assert {key: one for key, one in values.items() if one} == {
        key: one for key, one in before.items() if one
    }
    own = ("command", "[servers.kebab")
    lines = [line for line in text.splitlines() if not line.startswith(own)]
    assert [line for line in done.splitlines() if line in lines and line.strip()] == [
        line for line in lines if line.strip()
    ]


def test_removing_a_table_of_toml_removes_the_tables_below_it():
    text = "model = 1\n\n[servers.kebab]\ncommand = 'x'\n\n[servers.kebab.env]\nA = '1'\n"

    assert change_entry(TOML, text, PLACE, None) == "model = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        "servers = { kebab = { command = 'x' } }",
        "servers.kebab.command = 'x'",
        'x = """\n[servers.kebab]\n"""\n[servers]\nkebab = { command = "x" }',
        "[servers.kebab]\ncommand = 'x'\nargs = [\n  'a',\n]\nwhen = 2020-01-01\n",
    ],
)
def test_toml_of_another_form_is_refused(text):
    with pytest.raises(EntryError):
        set_toml(text)


@pytest.mark.parametrize("text", ["a: 1 # mine\n", "# mine\na: 1\n", "a: [1\n", "- 1\n"])
def test_yaml_that_would_lose_comments_or_is_broken_is_refused(text):
    with pytest.raises(EntryError):
        change_entry(YAML, text, PLACE, ENTRY)


def test_every_exception_of_the_library_of_yaml_is_caught():
    kinds = [one for one in vars(yaml).values() if isinstance(one, type)]

    assert all(issubclass(one, yaml.YAMLError) for one in kinds if issubclass(one, Exception))
