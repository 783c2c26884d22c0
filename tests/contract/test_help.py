"""Every command has help, a summary, and examples; what help and pages show can be typed."""

import re
import shlex

import click
import pytest

from kebab import __version__
from kebab.cli.command import root
from kebab.cli.commands.help import TOPICS
from kebab.cli.commands.schema import iterate_commands
from kebab.config.load import iter_documented_settings
from tests.contract.conftest import ROOT, check_channel

COMMANDS = dict(iterate_commands())
PAGES = ("README.md", "docs/README.md", *(f"docs/{topic}.md" for topic in TOPICS))
WRITTEN = [page for page in PAGES if page not in ("docs/formats.md", "docs/review-rules.md")]
"""The pages that are not generated as a whole."""


def parse_calls(line):
    """Return the arguments of each call of kebab in a shell line."""
    found: list[list[str]] = [[]]
    for word in shlex.split(line, comments=True):
        if word in ("|", "&&"):
            found.append([])
        elif found[-1] or not re.match(r"[A-Z_]+=", word):
            found[-1].append(word)
    return [words[1:] for words in found if words and re.fullmatch(r"(.*/)?kebab", words[0])]


def resolve_call(words):
    """Parse the arguments of a call, down to its command; an unknown one is refused."""
    command: click.Command | None = root
    context = root.make_context("kebab", list(words))
    while isinstance(command, click.Group) and (rest := context._protected_args + context.args):
        name, command, rest = command.resolve_command(context, rest)
        assert command is not None
        context = command.make_context(name, rest, parent=context)


def list_calls(page):
    """Return the calls of a page: lines of its shell blocks, and code in its text."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    text = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    spans = re.findall(r"`(kebab [^`]*)`", text)
    spans = [span for span in spans if not re.match(r"kebab [A-Z]+\b", span)]
    return [call for line in (*lines, *spans) for call in parse_calls(line)]


def test_help_is_complete_and_needs_no_settings(kebab, empty):
    for path in COMMANDS:
        ran = kebab("--config", str(empty / "none.toml"), *path.split(), "--help")

        assert (ran.status, ran.err) == (0, "")
        assert ran.out.startswith(f"Usage: kebab {path}")
        for heading in ("Options:", "Global options:", "Examples:", "Exit status:"):
            assert f"\n{heading}\n" in ran.out


def test_help_under_json_is_one_object(kebab):
    for path in ["", "model", *COMMANDS]:
        for flags in (["--help", "--json"], ["--output-format", "json", "-h"]):
            ran = kebab(*path.split(), *flags)

            (reply,) = check_channel(ran.out, status=0, command=path or "kebab")
            assert (ran.status, ran.err) == (0, "")
            assert reply["schema_version"] == "help_page.v1"
            assert reply["topic"] == f"kebab {path}".strip()
            assert all(f"  {flag} " in reply["text"] for flag in ("--json", "--config"))


def test_the_version_under_json_is_one_object(kebab):
    for flags in (["--version", "--json"], ["--json", "--version"]):
        ran = kebab(*flags)
        (reply,) = check_channel(ran.out, status=0, command="kebab")
        assert (reply["schema_version"], reply["kebab_version"]) == ("version.v1", __version__)


def test_every_flag_says_what_it_does():
    options = [
        (path, option)
        for path, command in COMMANDS.items()
        for option in command.params
        if isinstance(option, click.Option)
    ]

    assert options
    assert [(path, option.name) for path, option in options if not option.help] == []


def test_examples_can_be_typed_as_they_stand():
    for command in COMMANDS.values():
        calls = [parse_calls(example) for example in command.examples]

        assert all(calls)
        for words in (one for made in calls for one in made):
            resolve_call(words)


def test_commands_of_a_page_can_be_typed_as_they_stand():
    refused = []
    calls = [(page, one) for page in PAGES for one in list_calls((ROOT / page).read_text("utf-8"))]
    for page, words in calls:
        try:
            resolve_call([word for word in words if word != "--help"])
        except (click.MissingParameter, click.exceptions.NoArgsIsHelpError):
            pass  # text names a command without its arguments
        except click.UsageError as error:
            refused.append((page, words, error.format_message()))

    assert refused == []


def test_commands_of_a_page_are_those_of_its_shell_blocks_and_of_its_text():
    page = """Run `kebab doctor`, not `kebab COMMAND --help`.

```sh
KEBAB_OFFLINE=1 kebab ingest notes && .venv/bin/kebab search "a | b" | kebab fetch -   # why
ls kebab
```
"""
    calls = [["ingest", "notes"], ["search", "a | b"], ["fetch", "-"], ["doctor"]]

    assert list_calls(page) == calls
    with pytest.raises(click.UsageError):
        resolve_call(["doctor", "--no-such-flag"])


def test_settings_that_a_page_names_exist():
    known = {setting.key for setting in iter_documented_settings()}
    sections = {key.split(".")[0] for key in known if "." in key}
    groups = {key.rpartition(".")[0] for key in known}
    name = re.compile(r"`([a-z_]+\.[a-z_.]+)\b[^`]*`")
    named = [one for page in PAGES for one in name.findall((ROOT / page).read_text("utf-8"))]
    files = {one for one in named if one.endswith((".md", ".json", ".toml"))}
    settings = {one for one in named if one.split(".")[0] in sections} - files

    assert settings <= known | groups


def test_a_page_is_short_outside_of_its_generated_parts():
    for page in WRITTEN:
        text = (ROOT / page).read_text(encoding="utf-8")
        text = re.sub(r"<!-- (\w+) -->.*?<!-- /\1 -->", "", text, flags=re.DOTALL)

        assert len(text.split()) <= 600, page


def test_links_of_a_page_lead_to_files():
    for page in ("docs/development.md", "AGENTS.md", "HANDOFF.md", *WRITTEN):
        path = ROOT / page
        text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text)

        assert [link for link in links if not (path.parent / link).exists()] == [], page
