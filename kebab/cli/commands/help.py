"""`kebab help` shows a page of the documentation, or the help of a command."""

import re
from typing import TYPE_CHECKING

import click

from kebab.cli.command import COMMANDS, Group, declare_command, show_help
from kebab.cli.hints import UsageHintError, join_words
from kebab.cli.render.canvas import render_fields
from kebab.core.spelling import find_likely_name
from kebab.errors.signal import Exit
from kebab.platform import find_data_folder
from kebab.wire.health import HelpPage, HelpTopic, HelpTopics

if TYPE_CHECKING:
    from kebab.cli.context import CommandContext
    from kebab.cli.render.canvas import Canvas

TOPICS = {
    "query": "What a query may hold: phrases, exclusions, filters, dates",
    "searching": "How search orders passages, and how to measure it",
    "answers": "How answers are made and checked",
    "settings": "Every setting with its default and its environment variable",
    "formats": "What is read, how it is cited, and what is not read",
    "agents": "Coding agents and scripts: compact text, JSON, MCP, HTTP",
    "web-page": "The page to search, read and ask in a browser",
    "reviewing": "Reviews: changes, comments, fixes",
    "review-rules": "What a review finds without a model",
    "pictures": "Text and captions of images",
    "python": "The operations as methods of a Python object",
    "plugins": "Formats and rules of other packages",
    "security": "What is protected, and what is not",
    "many-machines": "Publish a base, search published ones, ingest on a cluster",
    "reliability": "Damage, repair, export and import",
    "uninstall": "How kebab is removed",
}
"""The pages by name, with what they are about. No page has the name of a command."""

_MARK = re.compile(r"^<!-- .* -->\n", re.MULTILINE)
"""Begins or ends a generated part of a page."""


def list_topics(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """Return the names that complete the argument."""
    return [name for name in (*TOPICS, *COMMANDS) if name.startswith(start)]


@declare_command("help", examples=("kebab help", "kebab help settings", "kebab help model pull"))
@click.argument("topic", nargs=-1, metavar="[TOPIC|COMMAND…]", shell_complete=list_topics)
def command(call: "CommandContext", /, topic: tuple[str, ...]) -> Exit:
    """Show a page of the documentation.

    Without TOPIC the pages are listed. The name of a command shows its help. The pages are part of
    the installation, so no network is needed.
    """
    if not topic:
        topics = [HelpTopic(name=name, summary=summary) for name, summary in TOPICS.items()]
        return call.print_reply(HelpTopics(topics=topics), _render_topics)
    if len(topic) == 1 and topic[0] in TOPICS:
        page = find_data_folder("docs", "docs") / f"{topic[0]}.md"
        text = _MARK.sub("", page.read_text(encoding="utf-8"))
        return call.print_reply(HelpPage(topic=topic[0], text=text), _render_page)
    return _print_command_help(call, topic)


def _print_command_help(call: "CommandContext", words: tuple[str, ...]) -> Exit:
    context = click.get_current_context()
    at = context.find_root()
    for word in words:
        group = at.command
        names = group.list_commands(at) if isinstance(group, Group) else []
        if word not in names:
            names = names if at.parent else [*TOPICS, *names]
            near = find_likely_name(word, names)
            call_with_it = ["kebab", "help", *at.command_path.split()[1:], near or ""]
            hint = join_words(call_with_it) if near else context.command_path
            message = f"no such page or command `{' '.join(words)}`"
            raise UsageHintError(message, hint, context, near)
        assert isinstance(group, Group)
        below = group.get_command(at, word)
        assert below is not None
        at = click.Context(below, at, info_name=word, obj=call, **below.context_settings)
    show_help(at)
    return Exit.DONE


def _render_topics(reply: HelpTopics, canvas: "Canvas") -> list[str]:
    rows = render_fields([(one.name, one.summary) for one in reply.topics], canvas, "  ")
    more = "`kebab help TOPIC` shows one, `kebab help COMMAND` the flags of a command"
    return [canvas.strong("Pages"), *rows, "", more]


def _render_page(reply: HelpPage, canvas: "Canvas") -> list[str]:
    if not canvas.width:
        return reply.text.rstrip().split("\n")
    from kebab.cli.render.markdown import render_markdown

    return render_markdown(reply.text, canvas)
