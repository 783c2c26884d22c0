"""Pages of reviews survive repeats, pairs of processes and kills; items that are lost are told."""

from collections.abc import Sequence

import pytest

from kebab.core.answers import Completion, JsonSchema, Message
from tests.fakes.hostile_model import CUT, READABLE, HostileModel
from tools import review_interleavings
from tools.misspelling_model import MisspellingModel
from tools.review_interleavings import run_interleavings


def test_every_interleaving_gives_the_items_of_an_undisturbed_run() -> None:
    outcome = run_interleavings(2, 1, lambda _: MisspellingModel(0.001))
    assert outcome.faults == []
    assert outcome.counts["interleavings"] == 2
    assert outcome.counts["kills"] > 0
    assert outcome.counts["repeats"] > 0


def test_a_hostile_model_changes_no_item() -> None:
    def build_model(seed: int) -> HostileModel:
        names = [*READABLE, *CUT]
        return HostileModel([names[seed % len(names)], "honest"], seed)

    assert run_interleavings(2, 2, build_model).faults == []


def test_items_that_differ_between_runs_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_interleavings, "_KILL_SHARE", 0.0)

    class Forgetful(MisspellingModel):
        def __init__(self, seed: int) -> None:
            super().__init__()
            self._forgets = bool(seed)

        def chat(
            self,
            messages: Sequence[Message],
            *,
            max_tokens: int,
            on_text: object,
            schema: JsonSchema | None = None,
        ) -> Completion:
            return Completion(text='{"items": []}', finish="stop")

    outcome = run_interleavings(2, 3, lambda seed: Forgetful(seed) if seed else MisspellingModel())
    assert len(outcome.faults) == 2
