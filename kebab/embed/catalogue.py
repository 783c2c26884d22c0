"""The models that fastembed lists, beside those of the registry."""

import re
from typing import TYPE_CHECKING, Any

from kebab.embed.registry import (
    MODELS,
    CatalogueRow,
    EmbeddingModel,
    Pooling,
    build_generic_model,
    find_prefixes,
)
from kebab.errors.system import translate_import_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

_FACTS = re.compile(r"(?:Uni|Multi)modal \(.*?\), (?P<languages>.+?), (?P<positions>\d+) input tok")
_ONE_SIDED = re.compile(r"-side|side of")  # embeds only queries or only documents


def list_catalogue() -> list[EmbeddingModel]:
    """Return the models of fastembed that kebab can run, without those of the registry."""
    with translate_import_errors("other embedding models", "fastembed"):
        from fastembed.text.onnx_embedding import supported_onnx_models
        from fastembed.text.pooled_embedding import supported_pooled_models
        from fastembed.text.pooled_normalized_embedding import supported_pooled_normalized_models

    tables: list[tuple[Pooling, Sequence[Any]]] = [
        ("cls", supported_onnx_models),
        ("mean", supported_pooled_models),
        ("mean", supported_pooled_normalized_models),
    ]
    own = {model.name.lower() for model in MODELS}
    rows = [
        row
        for pooling, entries in tables
        for entry in entries
        if (row := parse_entry(entry, pooling)) and row.name.lower() not in own
    ]
    return [build_generic_model(row) for row in sorted(rows, key=lambda row: row.name.lower())]


def parse_entry(entry: Any, pooling: Pooling) -> CatalogueRow | None:
    """Return the facts of a `DenseModelDescription`; None for a model that kebab cannot run.

    Such a model has no files on the hub, embeds one side only, or needs prefixes that are not
    known.
    """
    facts = _FACTS.search(entry.description)
    prefixes = find_prefixes(entry.model)
    needs_prefix = "documents: necessary" in entry.description
    if (
        not entry.sources.hf
        or not facts
        or _ONE_SIDED.search(entry.description)
        or (needs_prefix and not prefixes)
    ):
        return None
    query_prefix, passage_prefix = prefixes if needs_prefix and prefixes else ("", "")
    languages = re.sub(r"^supports | only| input text", "", facts["languages"])
    return CatalogueRow(
        name=entry.model,
        languages=languages,
        is_multilingual=languages.startswith("Multilingual"),
        dimension=entry.dim,
        positions=int(facts["positions"]),
        pooling=pooling,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        repo=entry.sources.hf,
        files=[entry.model_file, *entry.additional_files],
        megabytes=round(entry.size_in_GB * 1000),
    )
