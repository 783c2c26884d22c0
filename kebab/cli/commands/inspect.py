"""`kebab inspect doc|chunk` shows the metadata of a document or a passage."""

import click
from click.shell_completion import CompletionItem

from kebab.cli.command import Group
from kebab.cli.context import CommandContext
from kebab.cli.options import complete
from kebab.cli.render.documents import render_chunk, render_document
from kebab.errors.signal import Exit
from kebab.wire.library import InspectChunkRequest, InspectDocRequest


class _NameGroup(Group):
    """A group that takes the name of a document without a subcommand too."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the subcommand that the arguments name; a name alone is that of a document."""
        is_name = sum(not one.startswith("-") for one in args) == 1  # flags such as `--json` follow
        if is_name and args[0] not in self.commands:
            args = ["doc", *args]
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the subcommands and the names of documents."""
        names = self.commands["doc"].params[0].shell_complete(ctx, incomplete)
        return [*super().shell_complete(ctx, incomplete), *names]


@click.group(
    "inspect",
    cls=_NameGroup,
    examples=("kebab inspect notes/backup.md", "kebab inspect chunk 3f2a91"),
)
def command(context: CommandContext, /) -> None:
    """Show all metadata of a document or a passage.

    The name of a document alone shows this document.
    """


@command.command("doc", examples=("kebab inspect doc notes/backup.md",))
@click.argument("name", shell_complete=complete("documents"))
def doc(context: CommandContext, /, name: str) -> Exit:
    """Show a document with its passages.

    NAME is an id or its start, a path or its end, or a title, file name or alias in words, as in
    `restore-a-backup`. The documents that link to it are listed.
    """
    return context.print_reply(context.run(InspectDocRequest(name=name)), render_document)


@command.command("chunk", examples=("kebab inspect chunk 3f2a91",))
@click.argument("name", metavar="ID")
def chunk(context: CommandContext, /, name: str) -> Exit:
    """Show a passage with its neighbours.

    ID is the id of a passage, or a unique prefix of it. Its text and its vector are shown too.
    """
    return context.print_reply(context.run(InspectChunkRequest(name=name)), render_chunk)
