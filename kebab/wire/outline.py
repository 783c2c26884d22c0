"""Declares the request and the reply of the outline of a document or a folder."""

from typing import Literal

import msgspec
from msgspec import Struct

from kebab.wire.citation import Count, Freshness, Positive
from kebab.wire.coverage import Coverage
from kebab.wire.record import Reply, Request


class OutlineRequest(Request, frozen=True, kw_only=True, tag="outline_request.v1"):
    """The document or the folder to outline."""

    name: str | None = None
    """A document in any form that `fetch` takes, a folder, or a source; null means all sources."""
    depth: Positive | None = None
    """The number of levels: of headings, where null means all, or of folders, where null means
    2."""
    limit: Count | None = 20
    """The maximum number of documents to list of each folder; null means all."""


class OutlineSection(Struct, frozen=True, kw_only=True):
    """A heading with everything below it."""

    ref: str
    """Its reference for `fetch`: its lines, or its heading in a format without lines."""
    level: int
    """The level of the heading, from 1."""
    title: str
    """The text of the heading."""
    heading_path: list[str]
    """The headings that lead to it, itself included."""
    start_line: Positive
    """The line of the heading, in the file or in its extracted text."""
    end_line: Positive
    """The last line of the section, inclusive."""
    tokens: int
    """The estimated number of tokens of the section."""


class OutlineEntry(Struct, frozen=True, kw_only=True):
    """A folder or a document of a tree."""

    kind: Literal["folder", "document"]
    """What it is."""
    ref: str
    """Its reference: of a document for `fetch`, of a folder for `outline`."""
    path: str
    """The path below the outlined folder; of a source its absolute path."""
    depth: int
    """The level in the tree, from 0."""
    documents: int
    """The number of documents in it; 1 for a document."""
    chunks: int
    """The number of their passages."""
    tokens: int
    """A rough number of their tokens, from the sizes of the files."""
    title: str | None = None
    """The title of a document; null for a folder."""
    hidden: int = 0
    """The number of documents of a folder that are left out at this level by `limit`."""


class Outline(Reply, frozen=True, kw_only=True, tag="outline.v1"):
    """The headings of a document, or the tree of a folder."""

    kind: Literal["document", "folder"]
    """What is outlined."""
    ref: str | None
    """The reference of the document or the folder; null for all sources."""
    documents: int
    """The number of documents."""
    chunks: int
    """The number of passages."""
    tokens: int
    """The estimated number of tokens; rough for a folder."""
    doc_id: str | None = None
    """The id of the document; null for a folder."""
    doc_path: str | None = None
    """The path of the document below its source; null for a folder."""
    file: str | None = None
    """The absolute path of the document; null for a folder and for text from standard input."""
    title: str | None = None
    """The title of the document; null for a folder."""
    line_count: int | None = None
    """The number of lines of the document or of its extracted text; null for a folder."""
    freshness: Freshness | None = None
    """How the file compares with what was indexed; null for a folder."""
    sections: list[OutlineSection] = msgspec.field(default_factory=list)
    """The sections of the document as it is now, or its sheets, slides or cells if it has no
    headings; none for a text file that is gone."""
    entries: list[OutlineEntry] = msgspec.field(default_factory=list)
    """The tree of the folder: each folder before what is in it, folders before documents."""
    hidden: int = 0
    """The number of documents directly in the folder that `limit` leaves out."""
    pages: int | None = None
    """The number of pages or slides of the document; null for other formats and for a folder."""
    coverage: Coverage | None = None
    """What the index covers of the document, of the folder, or of all sources."""
