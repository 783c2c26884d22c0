-- What parsers left out of the documents, so that no word of it is called absent.

CREATE TABLE document_omissions (
    doc INTEGER NOT NULL REFERENCES documents (doc) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    words INTEGER NOT NULL,
    PRIMARY KEY (doc, reason)
) STRICT, WITHOUT ROWID;

-- Rows are keyed by document; the tokens are those of the word index.
CREATE VIRTUAL TABLE omitted_words USING fts5(
    tokens,
    content='',
    contentless_delete=1,
    detail='none',
    tokenize="ascii tokenchars '!""#$%&''''()*+,-./:;<=>?@[\]^_`{|}~'"
);
CREATE TRIGGER omitted_words_gone AFTER DELETE ON documents BEGIN
    DELETE FROM omitted_words WHERE rowid = old.doc;
END;
