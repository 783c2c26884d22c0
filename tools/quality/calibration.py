"""Fits the curves of confidence of a model and of words alone, and counts what they decide.

With every second document left out, the questions about the others are related to the notes and
not answered by them. Questions of sets without a common document are unrelated. Every set counts as
much as any other, and in it the questions with an answer as much as those without one.
"""

import argparse
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.search import build_query, prepare_vector_search
from kebab.core.chunks import Answerability, AnswerabilityCurve
from kebab.embed.registry import find_model
from kebab.evals import list_relevant
from kebab.search.answerability import (
    FAIR,
    LEXICAL,
    PRECISION,
    AnswerSignals,
    PrecisionCurve,
    combine,
    compute_found,
    compute_precision,
    compute_probability,
    is_across_languages,
    read_signals,
    weigh_passage,
)
from kebab.search.rerank import rerank_candidates
from kebab.search.retrieval import Ranker, StageTimer, VectorRetriever
from kebab.search.snippet import PassageCache
from kebab.wire.search import ModeName, SearchRequest
from tools.quality.rankings import compute_share, remove_answers, sample_unrelated, search_item
from tools.quality.sets import DataSet, Item, build_base, build_settings, find_sets, open_base

Kind: TypeAlias = Literal["own", "related", "unrelated"]
Names: TypeAlias = tuple[str, ...]
HYBRID: Names = ("words", "cosine", "margin", "place", "lacks")
VECTOR: Names = ("cosine", "margin")
MATCHED: Names = ("cosine", "margin", "match")
WORDS: Names = ("words", "evidence", "length")
_ROUNDS = 6
"""How often the best passage of each case is chosen anew with the weights of the last fit."""

_STEPS, _DECAY = 50, 0.002
"""A larger decay shrinks the weight of `match`, whose values differ by .3 at most."""

_BINS = 10
_FOREIGN_LOSS = 4
"""Across languages this many times more answers may be weak: the curves separate them worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The signals of one search; `rank` is that of the right hit among the first ten."""

    dataset: str
    questions: str
    mode: ModeName
    kind: Kind
    rank: int | None
    signals: AnswerSignals


@dataclass(frozen=True, slots=True)
class Curves:
    """The curves of a model, of words alone, and of the first hit."""

    model: Answerability
    lexical: AnswerabilityCurve
    precision: PrecisionCurve

    def score(self, case: Case) -> float:
        """Return the answerability of a search."""
        model = None if case.mode == "lexical" else self.model
        found = compute_found(case.signals, model, self.lexical)
        return combine(found, compute_precision(self.precision, case.signals), case.signals)


def render_calibration(chosen: argparse.Namespace) -> Iterator[str]:
    """Yield the fitted curves, and what the present and the fitted ones decide on every set."""
    cases = load_cases(chosen)
    today = Curves(find_model(chosen.model).answerability, LEXICAL, PRECISION)
    fitted = fit_curves(cases, today, chosen.lost)
    yield from map(str, (fitted.model, fitted.lexical, fitted.precision))
    for name, curves in (("now", today), ("fitted", fitted)):
        yield name
        yield from render_table(cases, curves)


def load_cases(chosen: argparse.Namespace) -> list[Case]:
    """Return the cases of all sets; they are collected once and kept in a file."""
    if not chosen.cases.exists():
        sets = list(find_sets(chosen.sets))
        wanted = (one for one in sets if not chosen.only or one.name in chosen.only)
        found = (case for one in wanted for case in collect_cases(one, sets, chosen))
        chosen.cases.write_bytes(b"".join(msgspec.json.encode(case) + b"\n" for case in found))
    lines = chosen.cases.read_bytes().splitlines()
    cases = (msgspec.json.decode(line, type=Case) for line in lines)
    return [case for case in cases if case.signals.passages]


def collect_cases(
    one: DataSet, sets: Sequence[DataSet], chosen: argparse.Namespace
) -> Iterator[Case]:
    """Yield the cases of a set: with all documents, and with every second one."""
    documents = one.list_documents()
    others = remove_answers([item for other in sets for item in sample_unrelated(one, other)])
    for base, kept in (("whole", documents), ("half", documents[::2])):
        data_dir = chosen.bases / f"{chosen.model}-{base}" / one.name
        build_base(data_dir, kept, one.docs, chosen.model)
        names = {str(path.relative_to(one.docs)) for path in kept}
        settings = build_settings(data_dir, chosen.model)
        context = AppContext(settings, config_path=data_dir / "config.toml")
        with open_base(data_dir, chosen.model) as kebab:
            for path in one.list_query_files():
                asked: list[tuple[Kind, Item]] = [
                    ("own" if names.issuperset(list_relevant(item.question)) else "related", item)
                    for item in one.load_items(path)[:: chosen.every]
                ]
                if base == "whole" and "-" not in path.stem:
                    asked += [("unrelated", item) for item in others]
                for kind, item in asked:
                    for mode in chosen.modes:
                        signals = read_search_signals(context, item.question.query, mode)
                        rank = search_item(kebab, item, mode).rank if kind == "own" else None
                        if signals is not None:
                            yield Case(
                                dataset=one.name,
                                questions=path.stem,
                                mode=mode,
                                kind=kind,
                                rank=rank,
                                signals=signals,
                            )
        context.close()


def read_search_signals(context: AppContext, text: str, mode: ModeName) -> AnswerSignals | None:
    """Return the signals of a search, None when it finds nothing."""
    with context.open_reader() as reader:
        vectors, embedder = prepare_vector_search(context, reader)
        retriever = VectorRetriever(
            library=reader, vectors=vectors, embedder=embedder, cache=context.cache
        )
        passages, timer = PassageCache(reader), StageTimer(time.perf_counter)
        query = build_query(SearchRequest(query=text, mode=mode), context.clock.now())
        found = Ranker(retriever).rank(query, timer, passages)
        if mode != "lexical" and is_across_languages(found, passages):
            found = rerank_candidates(found, embedder, passages, timer, asked_for=False)
        return read_signals(found, passages) if found.ranked else None


def fit_curves(cases: Sequence[Case], today: Curves, lost: float) -> Curves:
    """Return curves fitted over cases; those without any case stay as they are.

    Args:
        cases: The cases of several sets.
        today: The present curves.
        lost: The share of the questions with an answer that may be below fair confidence.
    """

    def fit(
        some: Sequence[Case], names: Names, present: AnswerabilityCurve, share: float
    ) -> AnswerabilityCurve:
        # A question whose answer is not among the hits tells nothing about confidence.
        judged = [case for case in some if case.kind != "own" or case.rank is not None]
        kinds = {case.kind == "own" for case in judged}
        return fit_curve(judged, names, share) if len(kinds) > 1 else present

    compared = [case for case in cases if case.signals.by_vectors]
    hybrid = [case for case in compared if case.mode == "hybrid"]
    foreign = [case for case in hybrid if all(one.foreign for one in case.signals.passages)]
    matched = [case for case in foreign if case.signals.match]
    own = [case for case in hybrid if "-" not in case.questions]
    words = [case for case in cases if case.mode == "lexical" and "-" not in case.questions]
    vectors = [case for case in compared if case.mode == "vector" and "-" not in case.questions]
    model, more = today.model, _FOREIGN_LOSS * lost
    return Curves(
        Answerability(
            hybrid=fit(own, HYBRID, model.hybrid, lost),
            vector=fit(vectors, VECTOR, model.vector, lost),
            foreign=model.foreign and fit(foreign, VECTOR, model.foreign, more),
            matched=model.matched and fit(matched, MATCHED, model.matched, more),
        ),
        fit(words, WORDS, today.lexical, lost),
        fit_precision(own or words) if own or words else today.precision,
    )


def fit_curve(judged: Sequence[Case], names: Names, lost: float) -> AnswerabilityCurve:
    """Return the curve that separates questions with an answer from those without one."""
    curve = AnswerabilityCurve(
        start=0.0, words=float("words" in names), cosine=float("cosine" in names)
    )
    labels, costs = [case.rank is not None for case in judged], weigh_cases(judged)
    for _ in range(_ROUNDS):
        rows = [_list_features(case, curve, names) for case in judged]
        start, *rest = fit_logistic(rows, labels, costs)
        curve = AnswerabilityCurve(start=start, **dict(zip(names, rest, strict=True)))
    # The curve is moved so that no more than the given share of the found ones is weak.
    scored = sorted(
        (compute_probability(curve, case.signals), cost)
        for case, label, cost in zip(judged, labels, costs, strict=True)
        if label
    )
    left, limit = lost * sum(cost for _, cost in scored), 0.5
    for limit, cost in scored:  # noqa: B007 - the first one that is kept
        left -= cost
        if left < 0:
            break
    return replace(curve, start=curve.start + _compute_logit(FAIR) - _compute_logit(limit))


def _list_features(case: Case, curve: AnswerabilityCurve, names: Names) -> list[float]:
    """Return the features of a case, with those of the best passage by a curve."""
    signals = case.signals
    best = max(signals.passages, key=lambda one: weigh_passage(curve, one))
    values = {**best._asdict(), "match": signals.match or 0.0}
    return [1.0, *(values.get(name, getattr(signals, name, 0.0)) for name in names)]


def _compute_logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def fit_precision(own: Sequence[Case]) -> PrecisionCurve:
    """Return the curve of the probability that the first hit is the right one."""
    asked = [case for case in own if case.kind == "own"]
    found = [case.signals for case in asked]
    rows = [[1.0, one.rival, one.intent.need] for one in found]
    labels = [case.rank == 1 for case in asked]
    start, rival, need = fit_logistic(rows, labels, weigh_cases(asked))
    return PrecisionCurve(rival=rival, need=need, start=start)


def weigh_cases(cases: Sequence[Case]) -> list[float]:
    """Return weights by which every set and kind counts as much."""
    keys = [(case.dataset, case.questions, case.kind == "own") for case in cases]
    counts = Counter(keys)
    return [10 / counts[key] for key in keys]


def fit_logistic(
    rows: Sequence[Sequence[float]], labels: Sequence[bool], costs: Sequence[float]
) -> list[float]:
    """Return the weights of a logistic regression by Newton's method, with a small decay."""
    import numpy as np

    x, y, cost = np.array(rows), np.array(labels, float), np.array(costs)
    decay = np.full(x.shape[1], _DECAY)
    decay[0] = 0.0
    weights = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slopes = x.T @ (cost * (chances - y)) + decay * weights
        curvature = (x.T * (cost * chances * (1 - chances))) @ x
        weights -= np.linalg.solve(curvature + np.diag(decay + 1e-9), slopes)
    return [float(weight) for weight in weights]


def render_table(cases: Sequence[Case], curves: Curves) -> Iterator[str]:
    """Yield one line for each set, file of questions and mode."""
    names = ("hit@1", "lost", "related", "unrelated", "ece")
    yield f"{'questions':32} {'mode':8} {'n':>5}" + "".join(f"{name:>10}" for name in names)
    rows: dict[tuple[str, str, str], list[tuple[Case, float]]] = {}
    for case in cases:
        key = (case.dataset, case.questions, case.mode)
        rows.setdefault(key, []).append((case, curves.score(case)))
    for (dataset, questions, mode), row in rows.items():
        own = [(case, score) for case, score in row if case.kind == "own"]
        by_kind = (
            [score >= FAIR for case, score in row if case.kind == kind]
            for kind in ("related", "unrelated")
        )
        values = [
            compute_share([case.rank == 1 for case, _ in own]),
            compute_share([score < FAIR for case, score in own if case.rank is not None]),
            *map(compute_share, by_kind),
            compute_error([(score, case.rank == 1) for case, score in row]),
        ]
        cells = "".join("         -" if one is None else f"{one:10.3f}" for one in values)
        yield f"{dataset + '/' + questions:32} {mode:8} {len(own):5}{cells}"


def compute_error(scored: Sequence[tuple[float, bool]]) -> float:
    """Return the mean distance of score and share of right first hits over bins of scores."""
    gaps = [0.0] * _BINS
    for score, right in scored:
        gaps[min(_BINS - 1, int(score * _BINS))] += score - right
    return sum(map(abs, gaps)) / len(scored)
