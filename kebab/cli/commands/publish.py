"""`kebab publish` writes a snapshot of the knowledge base where others can search it."""

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.progress import run_work
from kebab.cli.render.published import render_publication
from kebab.errors.signal import Exit
from kebab.wire.published import PublishRequest


@click.command(
    "publish",
    cls=Command,
    exits=(Exit.UNUSABLE,),
    examples=(
        "kebab publish s3://team-bucket/handbook",
        "kebab publish /srv/www/kb --with-texts",
        "kebab publish s3://team-bucket/handbook --dry-run",
    ),
)
@click.argument("dest", metavar="DEST")
@click.option("--with-texts", is_flag=True, help="Publish the files of the documents too.")
@click.option("--dry-run", is_flag=True, help="Only say what would be sent.")
@click.pass_obj
def command(context: CommandContext, *, dest: str, with_texts: bool, dry_run: bool) -> Exit:
    """Publish the knowledge base, so that others can search it.

    DEST is a folder, or an address that begins with `s3://`, `gs://` or `az://`; credentials come
    from the environment. What did not change is not sent again. Readers see the earlier snapshot
    until the new one is complete. It holds the text of your documents, also keys and passwords in
    them, but neither sessions nor reviews nor absolute paths. Readers use
    `kebab source add ADDRESS`, or `kebab --data-dir ADDRESS search`.
    """
    request = PublishRequest(dest=dest, with_texts=with_texts, dry_run=dry_run)
    return context.print_reply(run_work(context, request), render_publication)
