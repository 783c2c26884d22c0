"""Names file formats that kebab does not read, and says what makes their text readable."""

from typing import NamedTuple


class UnsupportedFormat(NamedTuple):
    """A format that no parser reads; `hint` says what to do, and is empty when nothing helps."""

    label: str
    hint: str = ""


_DOCUMENTS = "save it as DOCX, PDF or HTML"
_SLIDES = "save it as PPTX or PDF"
_SHEETS = "save it as XLSX or CSV"
_DRAWING = "export it as PDF"
_ARCHIVE = "extract it"

_HINTED: dict[UnsupportedFormat, tuple[str, ...]] = {
    UnsupportedFormat("Hangul document", _DOCUMENTS): (".hwp", ".hwpx", ".hwt", ".hml"),
    UnsupportedFormat("old Word document", _DOCUMENTS): (".doc", ".dot"),
    UnsupportedFormat("old PowerPoint presentation", _SLIDES): (".ppt", ".pps", ".pot"),
    UnsupportedFormat("Apple Pages document", _DOCUMENTS): (".pages",),
    UnsupportedFormat("Apple Keynote presentation", _SLIDES): (".key",),
    UnsupportedFormat("Apple Numbers workbook", _SHEETS): (".numbers",),
    UnsupportedFormat("WordPerfect document", _DOCUMENTS): (".wpd", ".wps", ".wp"),
    UnsupportedFormat("Ichitaro document", _DOCUMENTS): (".jtd", ".jtt"),
    UnsupportedFormat("old OpenOffice document", _DOCUMENTS): (".sxw", ".sxc", ".sxi"),
    UnsupportedFormat("XPS document", "save it as PDF"): (".xps", ".oxps"),
    UnsupportedFormat("PostScript", "convert it with `ps2pdf`"): (".ps", ".eps"),
    UnsupportedFormat("DjVu document", "convert it to PDF"): (".djvu", ".djv"),
    UnsupportedFormat("Kindle book", "convert it to EPUB"): (".mobi", ".azw", ".azw3", ".kfx"),
    UnsupportedFormat("Publisher document", _DRAWING): (".pub",),
    UnsupportedFormat("Visio drawing", _DRAWING): (".vsd", ".vsdx"),
    UnsupportedFormat("OneNote section", "export it as PDF or DOCX"): (".one", ".onetoc2"),
    UnsupportedFormat("Outlook message", "save it as EML"): (".msg", ".oft"),
    UnsupportedFormat("Outlook mailbox", "export it as MBOX"): (".pst", ".ost"),
    UnsupportedFormat("Photoshop or Illustrator image", _DRAWING): (".psd", ".psb", ".ai", ".indd"),
    UnsupportedFormat("design file", _DRAWING): (".sketch", ".fig", ".xd", ".xcf", ".kra"),
    UnsupportedFormat("CAD drawing", _DRAWING): (".dwg", ".dxf", ".skp", ".blend", ".step", ".stl"),
    UnsupportedFormat("Access database", _SHEETS): (".mdb", ".accdb"),
    UnsupportedFormat("compiled help", "extract it as HTML"): (".chm", ".hlp"),
    UnsupportedFormat("archive", _ARCHIVE): (
        *(".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz2", ".xz", ".txz", ".zst", ".7z", ".rar"),
        *(".lz", ".lz4", ".lzma", ".br", ".cab", ".z", ".egg", ".zipx"),
    ),
}
_PLAIN: dict[UnsupportedFormat, tuple[str, ...]] = {
    UnsupportedFormat("image"): (
        *(".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".heic", ".heif"),
        *(".ico", ".icns", ".avif", ".jxl", ".raw", ".cr2", ".nef", ".dng", ".tga", ".svgz"),
    ),
    # Its few words are those of a drawing, and its paths would be thousands of passages.
    UnsupportedFormat("vector image"): (".svg",),
    UnsupportedFormat("audio"): (
        *(".mp3", ".wav", ".flac", ".ogg", ".oga", ".opus", ".m4a", ".aac", ".wma", ".aiff"),
        *(".mid", ".midi", ".amr"),
    ),
    UnsupportedFormat("video"): (
        *(".mp4", ".mkv", ".mov", ".avi", ".webm", ".wmv", ".m4v", ".mpg", ".mpeg", ".flv", ".3gp"),
    ),
    UnsupportedFormat("font"): (".ttf", ".otf", ".woff", ".woff2", ".eot", ".ttc", ".pfb"),
    UnsupportedFormat("program or library"): (
        *(".exe", ".dll", ".so", ".dylib", ".a", ".o", ".obj", ".lib", ".class", ".jar", ".war"),
        *(".pyc", ".pyo", ".pyd", ".wasm", ".bin", ".elf", ".msi", ".apk", ".ipa", ".app", ".com"),
        *(".deb", ".rpm", ".whl", ".node", ".nupkg", ".crx", ".xpi"),
    ),
    UnsupportedFormat("disk image"): (".iso", ".img", ".dmg", ".vmdk", ".vdi", ".qcow2"),
    UnsupportedFormat("database"): (
        *(".db", ".sqlite", ".sqlite3", ".db3", ".dbf", ".frm", ".ibd", ".lmdb", ".lance"),
        *(".db-wal", ".db-shm", ".sqlite-wal", ".sqlite-shm", ".rdb", ".realm"),
    ),
    UnsupportedFormat("data file"): (
        *(".parquet", ".arrow", ".feather", ".avro", ".orc", ".h5", ".hdf5", ".npy", ".npz"),
        *(".pkl", ".pickle", ".mat", ".rds", ".rdata", ".sav", ".dta", ".nc", ".tfrecord"),
        *(".pt", ".pth", ".onnx", ".safetensors", ".gguf", ".ckpt", ".joblib", ".msgpack"),
        *(".pb", ".mo", ".dat", ".idx", ".pack", ".bson", ".cbor"),
    ),
    UnsupportedFormat("key or certificate"): (
        *(".pem", ".crt", ".cer", ".der", ".p12", ".pfx", ".jks", ".gpg", ".pgp", ".sig"),
        *(".kdbx", ".keystore", ".ppk"),
    ),
    UnsupportedFormat("environment file with secrets"): (".env", ".envrc"),
    UnsupportedFormat("temporary or generated file"): (
        *(".tmp", ".temp", ".swp", ".swo", ".bak", ".lock", ".pid", ".map", ".part", ".crdownload"),
        *(".min.js", ".cache", ".orig", ".rej", ".torrent", ".ds_store", ".lnk"),
    ),
}
_BY_SUFFIX = {
    suffix: unread
    for table in (_HINTED, _PLAIN)
    for unread, suffixes in table.items()
    for suffix in suffixes
}


def describe_unsupported(suffix: str) -> UnsupportedFormat | None:
    """Return what files of a suffix are, e.g. `.hwp`; None for a suffix that is not known."""
    return _BY_SUFFIX.get(suffix.lower())


def list_unsupported() -> list[tuple[UnsupportedFormat, tuple[str, ...]]]:
    """Return the formats with their suffixes, first those that can be made readable."""
    return [*_HINTED.items(), *_PLAIN.items()]
