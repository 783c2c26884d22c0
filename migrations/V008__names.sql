-- The words by which a document is found by name: of its file, title, aliases and folders.

-- `word` is the word as it is written, in lower case, where one mistyped letter is to be found.
-- The writer fills the table for documents that are not in it.
CREATE TABLE document_names (
    token TEXT NOT NULL,
    doc INTEGER NOT NULL REFERENCES documents (doc) ON DELETE CASCADE,
    word TEXT NOT NULL,
    PRIMARY KEY (token, doc)
) STRICT, WITHOUT ROWID;
CREATE INDEX document_names_doc ON document_names (doc);

-- A mistyped word has the beginning or the end of the right one.
CREATE INDEX document_names_word ON document_names (word) WHERE word <> '';
CREATE INDEX document_names_end ON document_names (substr(word, -2), word) WHERE word <> '';
