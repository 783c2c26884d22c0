"""Searches for the questions of every set in every mode, and prints one line for each.

Run from a checkout: `python -m tools.quality SETS --bases FOLDER`. With `--half` the knowledge base
holds every second document, so that the questions about the others are related to the notes and
not answered by them.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from kebab.app.facade import Kebab
from kebab.evals import MODES, Question, build_outcome, compute_figures
from kebab.wire.evals import EvalOutcome, MetricName
from kebab.wire.search import ModeName, SearchRequest
from tools.quality.sets import DataSet, Item, build_base, find_sets, open_base

_METRICS: tuple[MetricName, ...] = (
    "hit@1",
    "hit@5",
    "hit@10",
    "mrr@10",
    "ndcg@10",
    "calibration_error",
)
_LIMIT, _LIMIT_WITH_IGNORED = 10, 25
_OTHERS_PER_SET = 60


@dataclass(frozen=True, slots=True)
class Row:
    """The outcomes of one file of questions in one mode, by the kind of question."""

    name: str
    mode: ModeName
    own: list[EvalOutcome]
    related: list[EvalOutcome]
    unrelated: list[EvalOutcome]


def main(arguments: list[str]) -> int:
    """Print a line for each set, file of questions and mode; return 0."""
    chosen = _build_parser().parse_args(arguments)
    sets = list(find_sets(chosen.sets))
    wanted = [one for one in sets if not chosen.only or one.name in chosen.only]
    print(render_head())  # noqa: T201 - the output of the program
    for one in wanted:
        for row in measure_set(one, sets, chosen):
            print(render_row(row), flush=True)  # noqa: T201 - the output of the program
            if chosen.out:
                _append_outcomes(chosen.out, chosen.model, row)
    return 0


def measure_set(one: DataSet, sets: Sequence[DataSet], chosen: argparse.Namespace) -> Iterator[Row]:
    """Yield the rows of one set."""
    documents = one.list_documents()
    if chosen.half:
        documents = documents[::2]
    kind = f"{chosen.model}-half" if chosen.half else chosen.model
    data_dir = chosen.bases / kind / one.name
    build_base(data_dir, documents, one.docs, chosen.model)
    kept = {str(path.relative_to(one.docs)) for path in documents}
    others = [item for other in sets for item in sample_unrelated(one, other)]
    with open_base(data_dir, chosen.model) as kebab:
        search = partial(_search_all, kebab, rerank=chosen.rerank)
        for path in one.list_query_files():
            items = one.load_items(path)[:: chosen.every]
            own = [item for item in items if kept.issuperset(item.question.documents)]
            gone = [item for item in items if kept.isdisjoint(item.question.documents)]
            name = f"{one.name}/{path.stem}"
            for mode in chosen.modes:
                yield Row(
                    name,
                    mode,
                    search(own, mode),
                    search(remove_answers(gone), mode),
                    search(remove_answers(others), mode),
                )


def sample_unrelated(one: DataSet, other: DataSet) -> list[Item]:
    """Return some questions of a set that shares no document name with this one."""
    if one.list_names() & other.list_names():
        return []
    items = other.load_items(other.list_query_files()[0])
    return items[:: max(1, len(items) // _OTHERS_PER_SET)]


def remove_answers(items: Sequence[Item]) -> list[Item]:
    """Return questions as questions without an answer."""
    return [
        Item(question=Question(id=one.question.id, text=one.question.text, answerable=False))
        for one in items
    ]


def _search_all(
    kebab: Kebab, items: Sequence[Item], mode: ModeName, *, rerank: bool
) -> list[EvalOutcome]:
    return [search_item(kebab, item, mode, rerank=rerank) for item in items]


def search_item(kebab: Kebab, item: Item, mode: ModeName, *, rerank: bool = False) -> EvalOutcome:
    """Return what a search finds for a question."""
    limit = _LIMIT_WITH_IGNORED if item.ignored else _LIMIT
    request = SearchRequest(
        query=item.question.text,
        mode=mode,
        limit=limit,
        rerank=(rerank and mode != "lexical") or None,
    )
    reply = kebab.run(request)
    hits = [hit for hit in reply.hits if hit.doc_path not in item.ignored][:_LIMIT]
    return build_outcome(item.question, msgspec.structs.replace(reply, hits=hits), 0.0)


def render_head() -> str:
    """Return the names of the columns."""
    names = (*_METRICS[:-1], "lost", "rel.fair", "unr.fair", "ece own", "ece all")
    return f"{'questions':34} {'mode':8} {'n':>5}" + "".join(f"{name:>9}" for name in names)


def render_row(row: Row) -> str:
    """Return the figures of one row in columns."""
    figures = {figure.metric: figure.value for figure in compute_figures(row.own)}
    every = compute_figures([*row.own, *row.related, *row.unrelated])
    overall = {figure.metric: figure.value for figure in every}
    values = [figures[name] for name in _METRICS[:-1]]
    values += [_share_refused(row.own), _share_convincing(row.related)]
    values += [_share_convincing(row.unrelated)]
    values += [figures["calibration_error"], overall["calibration_error"]]
    cells = "".join("        -" if value is None else f"{value:9.3f}" for value in values)
    return f"{row.name:34} {row.mode:8} {len(row.own):5}{cells}"


def _share_refused(outcomes: Sequence[EvalOutcome]) -> float | None:
    return sum(one.refused for one in outcomes) / len(outcomes) if outcomes else None


def _share_convincing(outcomes: Sequence[EvalOutcome]) -> float | None:
    return sum(not one.refused for one in outcomes) / len(outcomes) if outcomes else None


def _append_outcomes(path: Path, model: str, row: Row) -> None:
    """Append every outcome of a row to a file, one JSON object a line."""
    with path.open("a", encoding="utf-8") as file:
        for kind in ("own", "related", "unrelated"):
            for one in getattr(row, kind):
                entry = {"model": model, "set": row.name, "mode": row.mode, "kind": kind}
                file.write(json.dumps(entry | msgspec.to_builtins(one)) + "\n")


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.quality", description="Measure rankings and confidence."
    )
    add = parser.add_argument
    add("sets", type=Path, help="a folder with evaluation sets")
    add("--bases", type=Path, required=True, help="a folder for the knowledge bases, kept")
    add("--model", default="all-minilm-l6-v2", help="the embedding model")
    add("--only", nargs="*", default=[], help="the names of some sets")
    add("--modes", nargs="*", choices=MODES, default=MODES, help="the channels searched")
    add("--rerank", action="store_true", help="rerank the first passages")
    add("--every", type=int, default=1, help="ask every Nth question only")
    add("--half", action="store_true", help="ingest every second document")
    add("--out", type=Path, help="append every outcome to this file")
    return parser
