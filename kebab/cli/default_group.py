"""Defines the group that runs a command of its own when the arguments name no subcommand."""

from typing import Any

import click

from kebab.cli.command import Command, Group


class DefaultGroup(Group):
    """A group with a default command.

    Args:
        name: The name of the group.
        default: The command that runs when the first argument names no subcommand.
        attrs: Further arguments of `click.Group`.
    """

    def __init__(self, name: str | None = None, *, default: Command, **attrs: Any) -> None:
        super().__init__(name, **attrs)
        self.default = default
        default.owner = self

    def select(self, ctx: click.Context, args: list[str]) -> click.Command:
        """Return this group when the first argument is a subcommand, else the default command."""
        parser = self.default.make_parser(ctx)
        parser.allow_interspersed_args = False
        parser.ignore_unknown_options = True
        try:
            values, rest, _ = parser.parse_args(list(args))
        except click.UsageError:
            return self.default
        arguments = [one.name for one in self.default.params if isinstance(one, click.Argument)]
        words = [value for name in arguments if isinstance(value := values.get(name), tuple)]
        first = [word for several in words for word in several] or rest
        return self if first and first[0] in self.commands else self.default
