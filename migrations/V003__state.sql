-- What the knowledge base remembers of itself.

CREATE TABLE kv (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO kv (name, value) VALUES
    ('corpus_revision', '0'),
    ('cursor_salt', lower(hex(randomblob(16))));

CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    started REAL NOT NULL,
    finished REAL NOT NULL,
    changed INTEGER NOT NULL
) STRICT;

-- `used` rises with every write, so the smallest is the least recently used.
CREATE TABLE query_cache (
    namespace TEXT NOT NULL,
    question TEXT NOT NULL,
    revision INTEGER NOT NULL,
    answer BLOB NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (namespace, question, revision)
) STRICT;
CREATE INDEX query_cache_used ON query_cache (used);
