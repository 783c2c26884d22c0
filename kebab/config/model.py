"""The settings. A field's docstring is its documentation, in `config.toml` and in the README."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

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

    endpoint: str = ""
    """Where Ollama listens; empty means `OLLAMA_HOST`, else `http://127.0.0.1:11434`."""
    model: str = "gemma3:4b"
    """The model that answers."""


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
    ingest: Ingest = Ingest()
    """Which files are read."""
    index: Index = Index()
    """How documents are cut."""
    models: Models = Models()
    """The models."""
    search: Search = Search()
    """What a search does when no flag says otherwise."""
