"""Outcomes and reports of evaluations, as runs would give them."""

from typing import Any

from kebab.evals import metrics
from kebab.evals.metrics import compute_figures, compute_hit_curve, compute_reliability
from kebab.wire.evals import (
    EvalGolden,
    EvalMode,
    EvalOutcome,
    EvalReport,
    EvalSettings,
    EvalVersions,
)


def outcome(name: str = "1", rank: int | None = 1, **changes: Any) -> EvalOutcome:
    """Return the outcome of a question that is answerable unless a change says otherwise."""
    return EvalOutcome(
        **{
            "id": name,
            "query": f"question {name}",
            "answerable": True,
            "rank": rank,
            "ndcg": 0.0 if rank is None else 1 / rank,
            "hits": 10,
            "score": 0.75,
            "confidence": "strong",
            "refused": False,
            "duration_ms": 2.0,
            **changes,
        }
    )


def nothing(name: str, **changes: Any) -> EvalOutcome:
    """Return the outcome of a question that nothing answers, and that was refused."""
    refused = {"hits": 0, "score": None, "confidence": None, "refused": True}
    return outcome(name, None, **{"answerable": False, **refused, **changes})


def mode(*outcomes: EvalOutcome, **changes: Any) -> EvalMode:
    """Return a mode that was measured."""
    return EvalMode(
        **{
            "mode": "hybrid",
            "figures": compute_figures(outcomes),
            "hit_curve": compute_hit_curve(outcomes, 10),
            "reliability": compute_reliability(outcomes),
            "degraded": [],
            "outcomes": list(outcomes),
            **changes,
        }
    )


def report(*modes: EvalMode, digest: str = "d" * 64, **changes: Any) -> EvalReport:
    """Return a report."""
    golden = EvalGolden(
        path="queries.jsonl",
        digest=digest,
        answerable=2,
        unanswerable=0,
        with_lines=2,
        graded=0,
        missing=[],
        missing_count=0,
    )
    settings = EvalSettings(
        limit=10,
        per_doc=None,
        by_doc=False,
        resamples=metrics.RESAMPLES,
        level=metrics.LEVEL,
        seed=metrics.SEED,
    )
    versions = EvalVersions(
        kebab="0.1.0", parser="markdown-v1", chunker="heading-v1", embedding=None, index="flat-v1"
    )
    return EvalReport(
        **{
            "golden": golden,
            "settings": settings,
            "versions": versions,
            "corpus_revision": 7,
            "modes": list(modes),
            "skipped": [],
            "duration_ms": 5,
            **changes,
        }
    )
