-- What documents say of themselves: their dates, authors and further names, and their links.

-- `date` is ISO 8601, as the document says; `date_ns` is the same moment for comparisons.
ALTER TABLE documents ADD COLUMN date TEXT;
ALTER TABLE documents ADD COLUMN date_ns INTEGER;

CREATE TABLE document_authors (
    doc INTEGER NOT NULL REFERENCES documents (doc) ON DELETE CASCADE,
    author TEXT NOT NULL,
    PRIMARY KEY (doc, author)
) STRICT, WITHOUT ROWID;

CREATE TABLE document_aliases (
    doc INTEGER NOT NULL REFERENCES documents (doc) ON DELETE CASCADE,
    alias TEXT NOT NULL,
    PRIMARY KEY (doc, alias)
) STRICT, WITHOUT ROWID;

-- `target` is as the document writes it, `key` the folded name of the file that it names.
CREATE TABLE document_links (
    doc INTEGER NOT NULL REFERENCES documents (doc) ON DELETE CASCADE,
    target TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (doc, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX document_links_key ON document_links (key);
