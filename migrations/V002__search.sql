-- How it is found: the word index, and how far each chunk's vector has come.

-- The columns hold tokens joined by blanks. Every other ASCII sign belongs to a token, so that
-- the tokenizer that made them is the only one. Rows are keyed by chunk.
CREATE VIRTUAL TABLE chunks_fts USING fts5(
    title,
    headings,
    body,
    content='',
    contentless_delete=1,
    tokenize="ascii tokenchars '!""#$%&''''()*+,-./:;<=>?@[\]^_`{|}~'"
);
CREATE VIRTUAL TABLE chunks_terms USING fts5vocab(chunks_fts, row);

CREATE TABLE vectors (
    key INTEGER PRIMARY KEY REFERENCES chunks (key) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('pending', 'committed', 'unsupported')),
    version TEXT
) STRICT;
CREATE INDEX vectors_open ON vectors (state, key) WHERE state <> 'committed';

-- Chunks that are gone and whose vectors may still be stored.
CREATE TABLE vector_garbage (
    key INTEGER PRIMARY KEY
) STRICT;
