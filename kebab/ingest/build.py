"""Builds the row of a document from a file; nothing is stored here."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from kebab.chunk.budget import Budget, build_chunk_rows
from kebab.chunk.split import split_document
from kebab.core.documents import DocumentRow, FileStamp, Source
from kebab.core.file_ports import Parser
from kebab.core.files import FileEntry
from kebab.core.ids import DocId, compute_digest, hash_content
from kebab.errors.catalog import UnsupportedMedia
from kebab.ingest.job import ParserGuard


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """The bytes of a file, with its stamp from before they were read."""

    data: bytes
    stamp: FileStamp


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentBuilder:
    """Builds the document rows of a run; it must be picklable for the helper process."""

    parsers: Mapping[str, Parser]
    guard: ParserGuard
    budget: Budget
    chunker: str
    recipes: Mapping[str, str]
    deadline_s: float

    def build_row(
        self, source: Source, entry: FileEntry, doc_id: DocId, content: FileContent
    ) -> DocumentRow:
        """Return the row of a document, ready to be stored.

        Raises:
            ParseFailed: The parser refuses the bytes.
            TimedOut: The parser takes too long.
            UnsupportedMedia: No parser reads this media type.
        """
        parser = self.parsers.get(entry.media)
        if parser is None:
            raise UnsupportedMedia(path=entry.path, media=entry.media)
        with self.guard(entry.path, parser.version, self.deadline_s):
            parsed = parser.parse(content.data, entry.path)
            chunks = build_chunk_rows(
                doc_id, parsed.title, split_document(parsed, self.budget), self.chunker
            )
        return DocumentRow(
            doc_id=doc_id,
            source=source.name,
            path=entry.path,
            title=parsed.title,
            media=entry.media,
            lang=parsed.lang,
            tags=parsed.metadata.tags,
            stamp=content.stamp,
            content_hash=hash_content(content.data),
            recipe=self.recipes[entry.media],
            parser_version=parser.version,
            chunker_version=self.chunker,
            chunks=chunks,
            warnings=parsed.warnings,
            authors=parsed.metadata.authors,
            date=parsed.metadata.date,
            aliases=parsed.metadata.aliases,
            links=parsed.links,
        )


def compute_recipes(parsers: Mapping[str, Parser], chunker: str) -> dict[str, str]:
    """Return by media type the digest of everything that decides what is stored of a file."""
    return {
        media: compute_digest("recipe", parser.version, chunker)
        for media, parser in parsers.items()
    }


def read_file(absolute: str) -> FileContent:
    """Return a file's bytes; its stamp is older than they are, so a later edit is noticed.

    The size is that of the bytes: a file that was cut off while it was read is read again.

    Raises:
        OSError: The file cannot be read.
    """
    with open(absolute, "rb") as file:  # noqa: PTH123 - a path string from the scan
        stat = os.fstat(file.fileno())
        data = file.read()
    stamp = FileStamp(size=len(data), mtime_ns=stat.st_mtime_ns, inode=stat.st_ino)
    return FileContent(data=data, stamp=stamp)
