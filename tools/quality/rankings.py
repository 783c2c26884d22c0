"""Searches for the questions of every set in every mode, and prints one line for each."""

import argparse
import json
from collections.abc import Iterator, Sequence

import msgspec

from kebab.app.facade import Kebab
from kebab.evals import build_outcome, compute_figures
from kebab.wire.evals import EvalOutcome, GoldenQuery, MetricName
from kebab.wire.search import ModeName, SearchRequest
from tools.quality.sets import DataSet, Item, build_base, find_sets, open_base

_METRICS: tuple[MetricName, ...] = ("hit@1", "hit@5", "hit@10", "mrr@10", "ndcg@10")
_LIMIT, _LIMIT_WITH_IGNORED = 10, 25
_OTHERS_PER_SET = 60


def render_rankings(chosen: argparse.Namespace) -> Iterator[str]:
    """Yield a line for each set, file of questions and mode."""
    names = (*_METRICS, "lost", "rel.fair", "unr.fair", "ece own", "ece all")
    yield f"{'questions':34} {'mode':8} {'n':>5}" + "".join(f"{name:>9}" for name in names)
    sets = list(find_sets(chosen.sets))
    for one in sets:
        if not chosen.only or one.name in chosen.only:
            yield from measure_set(one, sets, chosen)


def measure_set(one: DataSet, sets: Sequence[DataSet], chosen: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of one set.

    Questions without an answer are related to the documents, or those of another set.
    """
    data_dir = chosen.bases / chosen.model / one.name
    build_base(data_dir, one.list_documents(), one.docs, chosen.model)
    others = remove_answers([item for other in sets for item in sample_unrelated(one, other)])
    path = one.folder / "unanswerable.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
    texts = [json.loads(line)["query"] for line in lines][:: chosen.every]
    related = [Item(question=GoldenQuery(query=text, answerable=False)) for text in texts]
    with open_base(data_dir, chosen.model) as kebab:
        for path in one.list_query_files():
            items = one.load_items(path)[:: chosen.every]
            for mode in chosen.modes:
                outcomes = [
                    [search_item(kebab, item, mode) for item in some]
                    for some in (items, related, others)
                ]
                yield f"{one.name + '/' + path.stem:34} {mode:8} {render_figures(*outcomes)}"


def sample_unrelated(one: DataSet, other: DataSet) -> list[Item]:
    """Return some questions of a set that shares no document name with this one."""
    if one.list_names() & other.list_names():
        return []
    items = other.load_items(other.list_query_files()[0])
    return items[:: max(1, len(items) // _OTHERS_PER_SET)]


def remove_answers(items: Sequence[Item]) -> list[Item]:
    """Return questions as questions without an answer."""
    return [Item(question=GoldenQuery(query=one.question.query, answerable=False)) for one in items]


def search_item(kebab: Kebab, item: Item, mode: ModeName) -> EvalOutcome:
    """Return what a search finds for a question."""
    limit = _LIMIT_WITH_IGNORED if item.ignored else _LIMIT
    request = SearchRequest(query=item.question.query, mode=mode, limit=limit)
    reply = kebab.run(request)
    hits = [hit for hit in reply.hits if hit.doc_path not in item.ignored][:_LIMIT]
    return build_outcome(item.question, msgspec.structs.replace(reply, hits=hits), 0.0)


def render_figures(
    own: list[EvalOutcome], related: list[EvalOutcome], unrelated: list[EvalOutcome]
) -> str:
    """Return the figures of some questions in columns."""
    figures = {figure.metric: figure.value for figure in compute_figures(own)}
    every = compute_figures([*own, *related, *unrelated])
    overall = {figure.metric: figure.value for figure in every}
    refused = [compute_share([one.refused for one in some]) for some in (own, related, unrelated)]
    values = [figures[name] for name in _METRICS]
    values += [refused[0], *(None if one is None else 1 - one for one in refused[1:])]
    values += [figures["calibration_error"], overall["calibration_error"]]
    cells = "".join("        -" if value is None else f"{value:9.3f}" for value in values)
    return f"{len(own):5}{cells}"


def compute_share(decisions: Sequence[bool]) -> float | None:
    """Return the share of true decisions."""
    return sum(decisions) / len(decisions) if decisions else None
