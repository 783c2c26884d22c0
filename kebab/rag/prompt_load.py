"""Decides how much of the evidence one prompt carries, and reduces it after an overflow."""

from collections.abc import Sequence
from dataclasses import dataclass

from kebab.core.answers import Evidence
from kebab.core.queries import Hit
from kebab.errors.catalog import ContextOverflow
from kebab.rag.evidence import estimate_evidence_tokens, pack_evidence
from kebab.rag.prompt import compute_evidence_budget, limit_answer

MAX_DOWNSHIFTS = 2
"""The most times a question is asked again with less."""

_REDUCED_SHARE = 0.6
"""The share of the evidence that is sent again when the overflow tells nothing new."""
_SAFE_SHARE = 0.95
"""The share of a window that is filled by a count of tokens that has just been too low."""


@dataclass(frozen=True, slots=True)
class PromptLoad:
    """The passages that one attempt sends, and the most tokens of its answer."""

    passages: tuple[Evidence, ...]
    answer_tokens: int

    @property
    def evidence_tokens(self) -> int:
        """The estimated tokens of the passages."""
        return sum(map(estimate_evidence_tokens, self.passages))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPacker:
    """Packs hits into the window of a model.

    Attributes:
        hits: The hits, best first.
        overhead: The estimated tokens of a prompt without passages.
        answer_tokens: The most tokens of an answer.
    """

    hits: Sequence[Hit]
    overhead: int
    answer_tokens: int

    def pack(self, window: int) -> PromptLoad:
        """Return the load for a window of so many tokens."""
        return self._pack(
            compute_evidence_budget(window, self.answer_tokens, self.overhead), window
        )

    def repack(self, load: PromptLoad, overflow: ContextOverflow, *, is_told: bool) -> PromptLoad:
        """Return a smaller load after an overflow.

        The estimate of the tokens is corrected by the count of the server, if that is higher.

        Args:
            load: The load that was too large.
            overflow: Has the window and the count.
            is_told: Whether the window is new, and therefore what the server told.
        """
        sent = self.overhead + load.evidence_tokens
        window = overflow.context_tokens
        scale = _SAFE_SHARE * min(1, sent / max(1, overflow.prompt_tokens))
        room = window - limit_answer(self.answer_tokens, window)
        budget = int(room * scale) - self.overhead
        if not is_told:
            budget = min(budget, int(load.evidence_tokens * _REDUCED_SHARE))
        return self._pack(max(0, min(budget, load.evidence_tokens - 1)), window)

    def _pack(self, budget: int, window: int) -> PromptLoad:
        passages = tuple(pack_evidence(self.hits, budget))
        return PromptLoad(passages, limit_answer(self.answer_tokens, window))
