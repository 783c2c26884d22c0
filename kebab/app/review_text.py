"""Reads the files that are reviewed, with exact positions: the text as it is in the file."""

import stat
from pathlib import Path

from kebab.core.content import HEAD_BYTES, find_mismatch
from kebab.core.documents import StoredDocument
from kebab.core.files import get_suffix
from kebab.core.ids import hash_content
from kebab.core.media import MARKDOWN, PLAIN, is_prose
from kebab.core.review import Markup, ReviewText
from kebab.errors.catalog import TooLarge, UnsupportedMedia
from kebab.errors.system import translate_os_errors
from kebab.limits.faults import build_failure
from kebab.source.detect import detect_file_media

_PARSER = "text-v1"


def build_review_text(
    path: Path,
    root: Path,
    *,
    max_bytes: int,
    doc_path: str | None = None,
    stored: StoredDocument | None = None,
) -> ReviewText:
    """Read a file for a review.

    `root` is the folder of its source, `stored` the document when it is in the index. Replies call
    another file `doc_path`, by default its path below the root.

    Raises:
        IoError: The file cannot be read.
        TooLarge: It has more bytes than the limit.
        UnsupportedMedia: It is no regular file, or its format is no prose that is cited by lines.
        ParseFailed: It is not text.
    """
    from kebab.parse.encoding import decode_raw

    media, data = read_reviewed_file(path, max_bytes, stored.media if stored else None)
    decoded = decode_raw(data, str(path), _PARSER)
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    markup = read_text_markup(path, media, text)
    return ReviewText(
        doc_path=stored.path if stored else doc_path or path.relative_to(root).as_posix(),
        file=path,
        root=root,
        media=media,
        raw=decoded.text,
        text=text,
        content_hash=hash_content(data),
        encoding=decoded.encoding,
        doc_id=stored.doc_id if stored else None,
        lang=(stored.lang if stored else None) or _read_language(markup),
        markup=markup,
    )


def read_text_markup(path: Path, media: str, text: str) -> Markup:
    """Return the markup of a text in the format of a file."""
    from kebab.parse.markdown.markup import read_markup, read_plain_markup
    from kebab.parse.registry import convert_exceptions

    with convert_exceptions(str(path), _PARSER):
        if media == MARKDOWN:
            return read_markup(text, is_mdx=path.suffix.lower() == ".mdx")
        return read_plain_markup(text)


def _read_language(markup: Markup) -> str | None:
    """Return the language that the front matter names."""
    from kebab.parse.metadata import read_language

    front = markup.front_matter
    fields = {name.lower(): value for name, value in front.fields} if front else {}
    return read_language(fields.get("lang") or fields.get("language"))


def read_reviewed_file(path: Path, max_bytes: int, media: str | None) -> tuple[str, bytes]:
    """Return the media type and the bytes of a file; its errors are those of `build_review_text`.

    `media` is what the index knows.
    """
    with translate_os_errors(path, "read"):
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            media = media or detect_file_media(str(path), status.st_size)
        elif not stat.S_ISDIR(status.st_mode):  # reading from a pipe waits for its writer
            media = None
        if not stat.S_ISDIR(status.st_mode) and not is_prose(media):
            named = media or get_suffix(path.name) or "no extension"
            raise UnsupportedMedia(path=str(path), media=named)
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise TooLarge(what=str(path), size=max(status.st_size, len(data)), limit=max_bytes)
    mismatch = find_mismatch(media or PLAIN, data[:HEAD_BYTES])
    if mismatch is not None:
        raise build_failure(str(path), _PARSER, mismatch.cause)
    return media or PLAIN, data
