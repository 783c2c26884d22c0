"""The settings. A field's docstring is its documentation, in `config.toml` and in the README."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from kebab.errors.translations.languages import ENGLISH, Language

Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]

AUTO = "auto"
"""The name of an embedding model that leaves the choice to kebab."""


class Ingest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which files are read."""

    hidden: bool = False
    """Read files and folders whose name begins with a dot."""
    exclude: list[str] = msgspec.field(default_factory=list)
    """Patterns to leave out, in `.gitignore` form; `!pattern` takes a built-in exclude back."""
    max_file_bytes: Positive = 20_000_000
    """Larger files are left out."""
    deadline_s: Annotated[float, Meta(ge=0)] = 30.0
    """Seconds that reading one document may take; 0 means no limit."""


class Index(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How documents are cut."""

    chunk_tokens: Annotated[int, Meta(ge=32, le=510)] = 254
    """The most tokens of one passage; never more than the embedding model sees."""


class Embedding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The embedding model."""

    model: str = AUTO
    """A name from `kebab model list`, or `auto`: the best that can be had at the first ingest."""
    threads: Natural = 0
    """Processor threads; 0 means as many as there are cores, at most 4."""
    deadline_s: Annotated[float, Meta(ge=0)] = 60.0
    """Seconds that embedding one batch of texts may take; 0 means no limit."""


class Llm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The language model."""

    provider: Literal["ollama", "openai", "extractive"] = "ollama"
    """Who words answers: Ollama, a server with the OpenAI-compatible protocol, or nobody."""
    endpoint: str = ""
    """Where the server listens; empty means `OLLAMA_HOST`, else `http://127.0.0.1:11434`, and
    `http://127.0.0.1:8080/v1` for `openai`."""
    model: str = "gemma3:4b"
    """The model that answers."""
    key_variable: str = "OPENAI_API_KEY"
    """The environment variable with the key of an `openai` server; sent to no other."""
    context_tokens: Annotated[int, Meta(ge=512)] = 8192
    """The window that passages and answer share; a change makes Ollama load the model again."""
    answer_tokens: Annotated[int, Meta(ge=16)] = 1024
    """The most tokens of an answer."""
    think: bool = False
    """Let a model that can think do so before it answers; slower."""
    keep_alive: str = "5m"
    """How long Ollama keeps the model loaded, as `5m` or `1h`."""
    connect_s: Annotated[float, Meta(ge=0)] = 2.0
    """Seconds that connecting may take; 0 means no limit."""
    first_token_s: Annotated[float, Meta(ge=0)] = 300.0
    """Seconds until the first token, loading included, and between any two; 0 means no limit."""
    total_s: Annotated[float, Meta(ge=0)] = 900.0
    """Seconds that a whole answer may take; 0 means no limit."""


class Models(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The models."""

    embedding: Embedding = Embedding()
    """The embedding model."""
    llm: Llm = Llm()
    """The language model."""


class Search(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a search does when no flag says otherwise."""

    mode: Literal["hybrid", "lexical", "vector"] = "hybrid"
    """Which channels answer."""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 10
    """The most hits on a page."""
    snippet_chars: Annotated[int, Meta(ge=20, le=10_000)] = 240
    """The most characters of a snippet."""


class Ask(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How questions are answered."""

    limit: Annotated[int, Meta(ge=1, le=100)] = 8
    """The most passages that an answer is made from."""
    sentences: Annotated[int, Meta(ge=1, le=20)] = 3
    """The most sentences of an extractive answer."""
    unsupported: Literal["mark", "withhold"] = "mark"
    """When a passage does not carry its claim: mark the claim, or withhold the answer."""
    history: bool = True
    """Remember the turns of sessions; false turns all history off."""
    history_turns: Positive = 200
    """The most turns that one session keeps; older ones are forgotten."""


class Errors(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How errors are told."""

    redact_home: bool = False
    """Write the home directory as `~` in errors, for instance when their text is passed on."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set."""

    data_dir: str = ""
    """Where the knowledge base lies; empty means the platform's data folder."""
    models_dir: str = ""
    """Where model weights lie; empty means the platform's cache folder."""
    workspace: str = ""
    """The folder that a bare `kebab ingest` reads; empty means every folder ingested before."""
    offline: bool = False
    """Never use the network to fetch model weights."""
    lang: Language = ENGLISH
    """The language of error messages and hints: `en`, `ko` or `zh`; the variable may also hold a
    locale such as `ko_KR.UTF-8`."""
    ingest: Ingest = Ingest()
    """Which files are read."""
    index: Index = Index()
    """How documents are cut."""
    models: Models = Models()
    """The models."""
    search: Search = Search()
    """What a search does when no flag says otherwise."""
    ask: Ask = Ask()
    """How questions are answered."""
    errors: Errors = Errors()
    """How errors are told."""
