import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.cli.integrations.clients import EntryError
from kebab.cli.integrations.toml_entry import read_values, remove_entry, set_entry

PLACE = ("mcp_servers", "kebab")
ENTRY = {"command": "/usr/bin/kebab", "args": ["mcp", "--data-dir", '/한글 "x"']}
LINES = st.sampled_from(
    [
        "",
        "# a comment",
        'text = "a # b = c"',
        'long = """\n[mcp_servers.kebab]\n# inside\n"""',
        "list = [\n  1, # one\n\n  2,\n]",
        "'quoted = key'.x = 1 # end",
        "when = 2020-01-01T00:00:00Z",
        "inline = { a = 1, b = [2] }",
        "# nel \x85 mcp_servers",
    ]
)
TABLES = st.sampled_from(
    [
        "[mcp_servers.other]",
        "[mcp_servers.other.env]",
        "[tui]",
        "[[list_of]]",
        '["mcp_servers".c] # c',
    ]
)


def remove(text):
    return remove_entry(text, PLACE)


@st.composite
def documents(draw):
    """A document of lines and tables; each key occurs once in its table."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = draw(st.lists(LINES, max_size=4, unique=True))
    for table in draw(st.lists(TABLES, max_size=4, unique=True)):
        lines += [table, *draw(st.lists(LINES, max_size=3, unique=True))]
    last = draw(st.sampled_from(["", end, end * 2])) if lines else draw(st.sampled_from(["", end]))
    return "\n".join(lines).replace("\n", end) + last


@given(documents())
def test_everything_but_the_entry_stays(text):
    done = set_entry(text, PLACE, ENTRY)
    values = tomllib.loads(done)

    assert values["mcp_servers"].pop("kebab") == ENTRY
    assert {key: value for key, value in values.items() if value} == {
        key: value for key, value in tomllib.loads(text).items() if value
    }
    assert done.startswith(text)
    assert set_entry(done, PLACE, ENTRY) == done


@given(st.none() | documents())
def test_removal_restores_the_original_text(text):
    assert remove(set_entry(text, PLACE, ENTRY)) == text


@given(documents())
def test_a_changed_entry_changes_in_place(text):
    before = set_entry(text, PLACE, {"command": "/old", "args": []})

    assert set_entry(before, PLACE, ENTRY) == set_entry(text, PLACE, ENTRY)


@given(documents())
def test_a_table_after_the_entry_stays_with_its_comment(text):
    base = text if text.endswith("\n") or not text else text + "\n"
    done = set_entry(base, PLACE, ENTRY)
    more = "\n# about the last one\n[last]\nx = 1\n"
    removed = remove((done if done.endswith("\n") else f"{done}\n") + more)

    assert removed.endswith(more.lstrip())
    assert removed.replace("\r", "").rstrip().startswith(base.replace("\r", "").rstrip())


def test_own_keys_and_comments_of_an_entry_stay():
    text = (
        "[mcp_servers.kebab] # the notes\n# program\ncommand = '/old' # moved\n"
        "args = [ # flags\n  'x',\n] # end\nenabled = false\n[mcp_servers.kebab.env]\nA = 'b'\n"
    )
    done = set_entry(text, PLACE, ENTRY)

    assert read_values(done)["mcp_servers"]["kebab"] == {
        **ENTRY,
        "enabled": False,
        "env": {"A": "b"},
    }
    assert re.findall("# .*", done) == ["# the notes", "# program", "# moved", "# end"]
    assert read_values(remove(done)) == {}


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers]\nkebab.command = '/old'\nkebab.args = []\nother.command = 'x'\n",
        "[mcp_servers.kebab]\ncommand = '/old'\n[mcp_servers.other]\ncommand = 'x'\n",
        (
            "mcp_servers.kebab.command = '/old'\nmcp_servers.kebab.args = []\n"
            "mcp_servers.other.command = 'x'\n"
        ),
        "[mcp_servers.kebab]\nurl = 'http://x'\n[mcp_servers.other]\ncommand = 'x'\n",
        "[mcp_servers]\nkebab = { url = 'http://x' }\nother = { command = 'x' }\n",
    ],
)
def test_an_entry_is_found_in_every_form(text):
    other = {"mcp_servers": {"other": {"command": "x"}}}

    assert read_values(set_entry(text, PLACE, ENTRY)) == {
        "mcp_servers": {"kebab": ENTRY, **other["mcp_servers"]}
    }
    assert read_values(remove(text)) == other


@pytest.mark.parametrize(
    "text",
    [
        "a = \n",
        "a = 1\na = 2\n",
        "mcp_servers = 1\n",
        "mcp_servers = { other = { command = 'x' } }\n",
        "[[mcp_servers]]\ncommand = 'x'\n",
        "[mcp_servers]\nkebab = { command = '/old' }\n",
    ],
)
def test_a_file_without_a_place_for_the_entry_is_refused(text):
    with pytest.raises(EntryError):
        set_entry(text, PLACE, ENTRY)


def test_an_entry_within_another_value_cannot_be_removed():
    with pytest.raises(EntryError):
        remove("mcp_servers = { kebab = { command = 'x' } }\n")


def test_a_table_at_the_top_leaves_no_blank_line():
    other = "[mcp_servers.other]\ncommand = 'x'\n"

    assert remove(f"{set_entry(None, PLACE, ENTRY)}\n{other}") == other


def test_what_is_not_there_is_not_removed():
    assert remove("a = 'kebab'\n") == "a = 'kebab'\n"
