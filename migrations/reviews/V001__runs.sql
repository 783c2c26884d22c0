-- The runs of reviews and translations. Units and their results are JSON.

CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    tier TEXT NOT NULL,
    model TEXT,
    salt TEXT NOT NULL,
    page_items INTEGER NOT NULL,
    created REAL NOT NULL,
    updated REAL NOT NULL,
    used REAL NOT NULL
) STRICT;

-- Apart from `runs`, because those rows change with every unit and these may be large.
CREATE TABLE run_inputs (
    run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    request TEXT NOT NULL,
    files TEXT NOT NULL
) STRICT;

CREATE TABLE documents (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    number INTEGER NOT NULL,
    file INTEGER NOT NULL,
    first INTEGER NOT NULL,
    units INTEGER NOT NULL,
    next INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    skipped INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE units (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    number INTEGER NOT NULL,
    document INTEGER NOT NULL,
    unit TEXT NOT NULL,
    items INTEGER,
    result BLOB,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE cursors (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    cursor TEXT NOT NULL,
    unit INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    PRIMARY KEY (run, cursor)
) STRICT, WITHOUT ROWID;

CREATE TABLE pages (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    unit INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    end_unit INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    forced INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    PRIMARY KEY (run, unit, offset)
) STRICT, WITHOUT ROWID;

-- The finished work of each run by minute. It outlives the runs.
CREATE TABLE work (
    minute INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    tier TEXT NOT NULL,
    units INTEGER NOT NULL DEFAULT 0,
    items INTEGER NOT NULL DEFAULT 0,
    answered INTEGER NOT NULL DEFAULT 0,
    requests INTEGER NOT NULL DEFAULT 0,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    latency_ms REAL NOT NULL DEFAULT 0,
    downshifts INTEGER NOT NULL DEFAULT 0,
    forced_pages INTEGER NOT NULL DEFAULT 0,
    cursor_retries INTEGER NOT NULL DEFAULT 0,
    json_repairs INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (minute, run_id)
) STRICT, WITHOUT ROWID;
