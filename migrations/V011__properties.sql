-- The properties of documents: fields of front matter, and what files say of themselves.

-- The key of a field within another one has the keys above before it; each item of a list is a row.
CREATE TABLE document_properties (
    doc INTEGER NOT NULL REFERENCES documents (doc) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (doc, key, value)
) STRICT, WITHOUT ROWID;

-- Passages that many documents share, such as those of a template, are told by their hash, of which
-- the beginning leads to few.
CREATE INDEX chunks_text_hash ON chunks (substr(text_hash, 1, 8));
