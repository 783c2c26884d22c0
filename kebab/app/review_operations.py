"""Operations of the facade on the stored runs of reviews, their fixes and the rules."""

from typing import TYPE_CHECKING

from kebab.core.progress import Cancel

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.app.context import AppContext
    from kebab.wire.library import NotFound
    from kebab.wire.review import AgentItems, ReviewRequest, TranslateRequest
    from kebab.wire.review_runs import (
        ReviewApplied,
        ReviewApplyRequest,
        ReviewRemoved,
        ReviewRmRequest,
        ReviewRules,
        ReviewRulesRequest,
        ReviewRuns,
        ReviewRunsRequest,
    )
    from kebab.wire.review_stream import ReviewEvent

    ReviewCallback = Callable[[ReviewEvent], None]


class ReviewOperations:
    """What can be done with reviews."""

    _context: "AppContext"

    def review(
        self,
        request: "ReviewRequest",
        *,
        report: "ReviewCallback" = lambda _: None,
        cancel: Cancel | None = None,
    ) -> "AgentItems | NotFound":
        """Return a page of findings, after the work that it needs."""
        from kebab.app.review import review

        return review(self._context, request, report, cancel or Cancel())

    def translate(
        self,
        request: "TranslateRequest",
        *,
        report: "ReviewCallback" = lambda _: None,
        cancel: Cancel | None = None,
    ) -> "AgentItems | NotFound":
        """Return a page of translated segments, after the work that it needs."""
        from kebab.app.translate import translate

        return translate(self._context, request, report, cancel or Cancel())

    def review_runs(self, _request: "ReviewRunsRequest") -> "ReviewRuns":
        """Return the stored runs."""
        from kebab.app.review_runs import list_runs

        return list_runs(self._context)

    def review_rm(self, request: "ReviewRmRequest") -> "ReviewRemoved | NotFound":
        """Delete stored runs."""
        from kebab.app.review_runs import remove_runs

        return remove_runs(self._context, request)

    def review_apply(self, request: "ReviewApplyRequest") -> "ReviewApplied | NotFound":
        """Write the fixes of a run into the files that were reviewed."""
        from kebab.app.review_apply import apply_fixes

        return apply_fixes(self._context, request)

    def review_rules(self, request: "ReviewRulesRequest") -> "ReviewRules | NotFound":
        """Describe a rule, or all."""
        from kebab.app.review_runs import list_rules

        return list_rules(self._context, request)
