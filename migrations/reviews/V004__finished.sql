-- The units of a run that are finished become one list. Runs of earlier builds are not kept.

DROP TABLE rules_results;
DROP TABLE work;
DROP TABLE pages;
DROP TABLE cursors;
DROP TABLE units;
DROP TABLE documents;
DROP TABLE run_inputs;
DROP TABLE runs;

CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    tier TEXT NOT NULL,
    model TEXT,
    request TEXT NOT NULL,
    files TEXT NOT NULL,
    salt TEXT NOT NULL,
    page_items INTEGER NOT NULL,
    created REAL NOT NULL
) STRICT;

-- `units` is JSON.
CREATE TABLE documents (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    number INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    units TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- The finished units in the order of the work. `place` is that of the unit in its document.
CREATE TABLE units (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    number INTEGER NOT NULL,
    document INTEGER NOT NULL,
    place INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    items INTEGER NOT NULL,
    finished REAL NOT NULL,
    result BLOB NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE pages (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    cursor TEXT NOT NULL,
    unit INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    end_unit INTEGER,
    end_offset INTEGER,
    PRIMARY KEY (run, cursor)
) STRICT, WITHOUT ROWID;
