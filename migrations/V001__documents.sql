-- What was read: files with their content, the documents made of them, and their chunks.

CREATE TABLE assets (
    asset INTEGER PRIMARY KEY,
    content_hash TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL
) STRICT;

CREATE TABLE sources (
    source INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    root TEXT NOT NULL,
    kind TEXT NOT NULL
) STRICT;

CREATE TABLE documents (
    doc INTEGER PRIMARY KEY,
    doc_id TEXT NOT NULL UNIQUE,
    source INTEGER NOT NULL REFERENCES sources (source),
    path TEXT NOT NULL,
    asset INTEGER NOT NULL REFERENCES assets (asset),
    title TEXT NOT NULL,
    media TEXT NOT NULL,
    lang TEXT,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    recipe TEXT NOT NULL,
    parser_version TEXT NOT NULL,
    chunker_version TEXT NOT NULL,
    indexed_at REAL NOT NULL,
    warnings TEXT NOT NULL,
    UNIQUE (source, path)
) STRICT;
CREATE INDEX documents_asset ON documents (asset);

CREATE TABLE document_tags (
    doc INTEGER NOT NULL REFERENCES documents (doc) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (doc, tag)
) STRICT, WITHOUT ROWID;

-- AUTOINCREMENT: the vector store knows chunks by key, so a key is never given twice.
CREATE TABLE chunks (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk_id TEXT NOT NULL UNIQUE,
    doc INTEGER NOT NULL REFERENCES documents (doc) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    heading_path TEXT NOT NULL,
    text TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    embed_hash TEXT NOT NULL
) STRICT;
CREATE INDEX chunks_doc ON chunks (doc, ordinal);
CREATE INDEX chunks_embed_hash ON chunks (embed_hash);
