"""The settings and the paths of a knowledge base.

The docstring of a field documents it in `config.toml` and in the README. Paths are the folders of
the system unless a setting is given.
"""

import os
import re
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from kebab.errors.signal import ENGLISH, Language
from kebab.errors.system import translate_import_errors
from kebab.platform import is_linux

Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]

AUTO = "auto"
"""The value that lets kebab choose the embedding model."""


_HYPERLINK = r"^(default|none|vscode|.*\{path\}.*)$"


_RAY_ADDRESS = r"^(|auto|local|([A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):[0-9]{1,5})$"
_OCR_LANGUAGES = r"^[A-Za-z][A-Za-z0-9_/]*(\+[A-Za-z][A-Za-z0-9_/]*)*$"
_KEEP_ALIVE = r"^\s*[-+]?(\d+|((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+)\s*$"
"""A duration of Go, or a number of seconds."""

FORMS = {
    "models.llm.keep_alive": "a duration such as `5m`, or a number of seconds such as `300`",
    "output.hyperlink_format": "a name such as `default`, or an address with `{path}`",
}
"""The form of the texts that have a pattern, in words."""


class Ingest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which files are indexed."""

    hidden: bool = False
    """Read files and folders whose name begins with a dot."""
    exclude: list[str] = msgspec.field(default_factory=list)
    """Patterns of files to skip, in `.gitignore` form; `!pattern` cancels a built-in pattern."""
    secret_files: list[str] = msgspec.field(default_factory=list)
    """Patterns of files to read although files of their name or content usually hold keys or
    passwords, in `.gitignore` form, such as `samples/credentials.json`."""
    max_file_bytes: Positive = 20_000_000
    """The largest file to read, in bytes. Of text, data and code up to ten times as large the first
    part is read; other larger files are skipped. For mailboxes and archives it holds for each
    message or file within them."""
    archives: Literal["exports", "all", "none"] = "exports"
    """Which zip archives are read: `exports` of Notion, Slack, WhatsApp, Google Takeout, Telegram,
    ChatGPT and Claude, `all` or `none`. An archive within a mail or an export is read, but for
    `none`."""
    deadline_s: Annotated[float, Meta(ge=0)] = 30.0
    """The limit of processor time for parsing and cutting one document, in seconds; 0 means no
    limit. What was read by then is kept. A parser that waits ends after 20 times as long."""
    max_memory_mb: Natural = 1024
    """The memory of a process that reads files such as PDF or office documents, in MB; a file that
    needs more is reported. 0 means no limit."""
    ocr: bool | Literal["model"] = False
    """Recognise the text of images and of scanned pages: `true` with the program `tesseract`,
    `model` with the model server; slow."""
    ocr_languages: Annotated[str, Meta(pattern=_OCR_LANGUAGES)] = "eng"
    """The languages of images, as `tesseract --list-langs` names them, e.g. `eng+kor`."""
    ocr_page_deadline_s: Annotated[float, Meta(ge=0)] = 30.0
    """The limit of processor time for recognising the text of one page, in seconds; 0 means no
    limit. A file may take 20 times as long."""
    ray: Annotated[str, Meta(pattern=_RAY_ADDRESS)] = ""
    """The Ray cluster that reads and embeds: `auto`, `local` or `HOST:PORT`; empty means none. It
    needs the extra `kebab[ray]`."""
    captions: bool = False
    """Let the model server describe each image; slow. This and `model` for `ocr` need the extra
    `kebab[pictures]`."""


class Index(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How documents are split into passages, and how vectors are searched."""

    chunk_tokens: Annotated[int, Meta(ge=32, le=510)] = 254
    """The most tokens of one passage; the window of the embedding model is the upper limit."""


class Embedding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The embedding model."""

    provider: Literal["fastembed", "ollama", "openai"] = "fastembed"
    """What computes vectors: `fastembed` on this machine, or a server: `ollama`, or `openai` (any
    server with the OpenAI-compatible API)."""
    model: str = AUTO
    """A name from `kebab model list`, or `auto`: the first ingest chooses by the languages. With a
    server it is the name of the model there."""
    endpoint: str = ""
    """The address of the server; empty means that of `models.llm.endpoint` when its provider is the
    same, else that of a server on this machine."""
    key_variable: str = "OPENAI_API_KEY"
    """The environment variable with the API key of an `openai` server."""
    threads: Natural = 0
    """The number of processor threads; 0 means one per core, at most 4."""
    deadline_s: Annotated[float, Meta(ge=0)] = 60.0
    """The limit for embedding one batch of texts, in seconds of processor time, or of the clock for
    a server; 0 means no limit.
    A batch that needs more is tried again in smaller ones. One that hangs ends after 20 times as
    long, and a passage that hangs alone stays pending."""


class Llm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The language model."""

    provider: Literal["ollama", "openai", "extractive"] = "ollama"
    """What writes answers: `ollama`, `openai` (any server with the OpenAI-compatible API), or
    `extractive` (sentences from the notes, no server)."""
    endpoint: str = ""
    """The address of the server; empty means `OLLAMA_HOST` or `http://127.0.0.1:11434` for
    `ollama`, and `http://127.0.0.1:8080/v1` for `openai`."""
    model: str = "gemma3:4b"
    """The model that answers."""
    key_variable: str = "OPENAI_API_KEY"
    """The environment variable with the API key; the key is sent to an `openai` server only."""
    context_tokens: Annotated[int, Meta(ge=512)] = 8192
    """The tokens that prompt and answer share; a change makes Ollama load the model again."""
    answer_tokens: Annotated[int, Meta(ge=16)] = 1024
    """The most tokens of an answer."""
    think: bool | Literal["low", "medium", "high"] = False
    """Let the model think before it answers, if it can, or how much; slower. An `openai` server is
    told a level only. What the model thinks is no part of an answer."""
    keep_alive: Annotated[str, Meta(pattern=_KEEP_ALIVE)] | int = "5m"
    """How long Ollama keeps the model loaded: a duration such as `5m` or `1h30m`, or a number of
    seconds; -1 keeps it loaded."""
    connect_s: Annotated[float, Meta(ge=0)] = 2.0
    """The time limit for connecting, in seconds; 0 means no limit."""
    first_token_s: Annotated[float, Meta(ge=0)] = 300.0
    """The longest wait for the first token (including loading the model) and between two tokens, in
    seconds; 0 means no limit."""
    total_s: Annotated[float, Meta(ge=0)] = 900.0
    """The time limit for a whole answer, in seconds; 0 means no limit."""


class Models(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The models."""

    embedding: Embedding = Embedding()
    """The embedding model."""
    llm: Llm = Llm()
    """The language model."""
    vision: str = ""
    """The model that reads pictures on the same server; empty means the model that answers."""


class Search(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Defaults of a search."""

    mode: Literal["hybrid", "lexical", "vector"] = "hybrid"
    """How to search: by words (`lexical`), by meaning (`vector`), or both (`hybrid`)."""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 10
    """The most hits on a page."""
    snippet_chars: Annotated[int, Meta(ge=20, le=10_000)] = 240
    """The most characters of a snippet."""
    rerank: bool = False
    """Compare up to 20 passages with every query token by token, which takes about a quarter of a
    second. Of questions, and where query and passages are in different languages, up to four that
    are close to the first are compared anyway, for agents up to 30; `--no-rerank` compares none."""


class Ask(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How questions are answered."""

    limit: Annotated[int, Meta(ge=1, le=100)] = 8
    """The most passages that an answer uses."""
    sentences: Annotated[int, Meta(ge=1, le=20)] = 3
    """The most sentences of an extractive answer."""
    rerank: bool = True
    """Compare the first passages with the question token by token before the answer, unless most of
    them are code."""
    unsupported: Literal["mark", "withhold"] = "mark"
    """When no passage supports a claim: `mark` the claim, or `withhold` the answer."""
    history: bool = True
    """Store the turns of sessions; `false` stores no history."""
    history_turns: Positive = 200
    """The most turns that one session keeps; older turns are deleted."""


class Output(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How text is shown."""

    mask_secrets: bool = True
    """Mask keys and passwords in the text of files, except where the command line shows files as
    they are: `fetch`, `grep`, `review` and `translate`. A language model on another machine
    gets no such text either."""
    hyperlink_format: Annotated[str, Meta(pattern=_HYPERLINK)] = "default"
    """The links of file names: `default` (`file://`), `none`, `vscode`, or an address with `{path}`
    and `{line}`."""


class Watch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How changes of files are followed."""

    debounce_ms: Positive = 300
    """How long files must be quiet before they are indexed, in milliseconds."""


class Published(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Published knowledge bases."""

    mode: Literal["auto", "pull", "remote"] = "auto"
    """Whether a published base is copied (`pull`), or read from its store while it is searched
    (`remote`); `auto` chooses by its size, unless it is known here already."""
    remote_from_mb: Positive = 2000
    """From how many MB on `auto` means `remote`."""


class Plugins(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What other packages add: formats."""

    enabled: bool = True
    """Use the plugins that are installed beside kebab; they run with your permissions."""


class Review(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How documents are reviewed."""

    disable: list[str] = msgspec.field(default_factory=list)
    """The rules that are switched off; `kebab help review-rules` lists them."""
    stale_days: Natural = 730
    """After how many days a statement `as of` a date is reported; 0 means never."""
    keep_days: Positive = 30
    """After how many days without work a stored review is deleted."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings."""

    data_dir: str = ""
    """The folder of the knowledge base, or the folder or address of a published one; empty means
    the data folder of the system."""
    models_dir: str = ""
    """The folder of the embedding models; empty means the cache folder of the system."""
    workspace: str = ""
    """The folder that `kebab ingest` without arguments reads; empty means every folder ingested
    before."""
    offline: bool = False
    """Never download embedding models."""
    lang: Language = ENGLISH
    """The language of error messages and hints: `en`, `ko` or `zh`; the variable may also be a
    locale such as `ko_KR.UTF-8`."""
    ingest: Ingest = Ingest()
    """Which files are indexed."""
    index: Index = Index()
    """How documents are split into passages, and how vectors are searched."""
    models: Models = Models()
    """The models."""
    search: Search = Search()
    """Defaults of a search."""
    ask: Ask = Ask()
    """How questions are answered."""
    output: Output = Output()
    """How text is shown."""
    watch: Watch = Watch()
    """How changes of files are followed."""
    review: Review = Review()
    """How documents are reviewed."""
    published: Published = Published()
    """Published knowledge bases."""
    plugins: Plugins = Plugins()
    """What other packages add: formats."""


_APP = "kebab"
_XDG = {
    "user_cache_dir": ("XDG_CACHE_HOME", ".cache"),
    "user_config_dir": ("XDG_CONFIG_HOME", ".config"),
    "user_data_dir": ("XDG_DATA_HOME", ".local/share"),
    "user_state_dir": ("XDG_STATE_HOME", ".local/state"),
}
"""For each kind: the variable that names the folder on Linux, and its default below home."""


OBJECTS = "objects"


class Paths(NamedTuple):
    """The folders and files of one knowledge base; none of them is created here."""

    data: Path
    models: Path
    state: Path

    @property
    def stdin_dir(self) -> Path:
        """The folder of the texts from standard input, one file each."""
        return self.data / "stdin"

    @property
    def objects_dir(self) -> Path:
        """The folder of the mirrors of object storage, one folder each."""
        return self.data / OBJECTS

    @property
    def log(self) -> Path:
        """The error log."""
        return self.state / "kebab.log"


FILE_ADDRESS = "file://"
BASE_FILE = "base.json"
"""The file that says what is published in a folder or a store."""
_ADDRESS = re.compile(r"(s3|gs|az|https?|file)://[^\s]", re.IGNORECASE)


def is_address(text: str) -> bool:
    """Return whether a text is the address of a published base and not the path of a folder."""
    return _ADDRESS.match(text) is not None


_OBJECTS = re.compile(r"(s3|gs|az)://[^\s/]", re.IGNORECASE)


def is_object_address(text: str) -> bool:
    """Return whether a text is an address in object storage, whose objects can be listed."""
    return _OBJECTS.match(text) is not None


def find_copy_folder(address: str) -> Path:
    """Return the folder of the copy of a published base."""
    from hashlib import sha256

    digest = sha256(address.rstrip("/").encode("utf-8", "surrogatepass")).hexdigest()
    return find_cache_folder() / "published" / digest[:32]


def find_default_config() -> Path:
    """Return the path of the settings file when no flag names one."""
    return _find_folder("user_config_dir") / "config.toml"


def resolve_paths(settings: Settings) -> Paths:
    """Return the absolute paths for these settings."""
    address = is_address(settings.data_dir)
    return Paths(
        # The use of a published base replaces this by the folder of a snapshot below it.
        data=find_copy_folder(settings.data_dir)
        if address
        else _resolve_folder(settings.data_dir, "user_data_dir"),
        models=_resolve_folder(settings.models_dir, "user_cache_dir", "models"),
        state=_resolve_folder("", "user_state_dir"),
    )


def find_cache_folder() -> Path:
    """Return the folder of what kebab can find out again, the same for all knowledge bases."""
    return _find_folder("user_cache_dir")


def _resolve_folder(setting: str, kind: str, *below: str) -> Path:
    if setting:
        return Path(os.path.abspath(os.path.expanduser(setting)))  # noqa: PTH100, PTH111 - keeps links and names of nobody
    return _find_folder(kind).joinpath(*below)


def _find_folder(kind: str) -> Path:
    """Return kebab's folder of a kind; platformdirs is imported only where it is needed."""
    variable, below = _XDG[kind]
    named = os.environ.get(variable)
    base = Path(os.environ.get("HOME", ""), below) if named is None else Path(named)
    if is_linux() and base.is_absolute():
        return base / _APP
    with translate_import_errors("the folders of this system", "platformdirs"):
        import platformdirs

    return Path(getattr(platformdirs, kind)(_APP, appauthor=False))
