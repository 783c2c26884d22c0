"""The facade: a knowledge base that runs the operations of `kebab.wire.operations`."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kebab.app.context import AppContext
from kebab.app.python_api import OperationMethods
from kebab.config.settings import Settings
from kebab.core.progress import Cancel, ignore_progress
from kebab.wire.operations import find_operation
from kebab.wire.record import Reply, Request

if TYPE_CHECKING:
    from kebab.app.model_adapters import Embedders
    from kebab.config.load import SettingsReport

R = TypeVar("R", bound=Reply)


class Kebab(OperationMethods, AbstractContextManager["Kebab"]):
    """One knowledge base. Stores and models are opened when an operation first needs them.

    Use it as a context manager, or call `close`.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        config_path: Path,
        read_only: bool = False,
        report: "SettingsReport | None" = None,
        embedders: "Embedders | None" = None,
        is_owner: bool = True,
    ) -> None:
        """Open nothing yet.

        With `report` invalid settings are findings instead of errors; `embedders` are the models
        of another knowledge base with the same settings. `is_owner` says that the caller is the
        user of the files, and not a client of a server. To a client no operation shows secrets, and
        none that reads tells anything about files outside of the indexed folders.
        """
        self.settings = settings
        self._context = AppContext(
            settings,
            config_path=config_path,
            read_only=read_only,
            report=report,
            embedders=embedders,
            is_owner=is_owner,
        )

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the stores that stay open between calls; the next call opens them again."""
        self._context.close()

    def run(
        self,
        request: Request[R],
        *,
        report: Callable[[Any], None] | None = None,
        cancel: Cancel | None = None,
    ) -> R:
        """Run the operation that a request asks for, and return the object that `--json` prints.

        Args:
            request: The request of an operation.
            report: Receives the events of an operation that reports any; for `ask` all but `final`
                and `error`.
            cancel: Stops an operation that can be cancelled.

        Raises:
            Signal: The operation fails.
        """
        operation = find_operation(request)
        self._context.follow_published()
        masks = self._context.masks
        masks.begin(exact=operation.exact and self._context.is_owner)
        options: list[object] = []
        if operation.events_path:
            mask_and_report = (lambda event: report(masks.mask_event(event))) if report else None
            options.append(mask_and_report or ignore_progress)
        if operation.cancellable:
            options.append(cancel or Cancel())
        handler = operation.import_handler()
        context = self._context
        names = getattr(request, "base", None)
        if names:
            from kebab.app.bases import MERGED, choose_base

            context = context if operation.name in MERGED else choose_base(context, names)
        hidden: AbstractContextManager[None] = nullcontext()
        if not self._context.is_owner:
            from kebab.app.references import hide_other_folders

            hidden = hide_other_folders(cache(self._context.list_folders))
        with hidden:
            reply: R = handler(context, request, *options)
        return masks.mask_reply(reply)
