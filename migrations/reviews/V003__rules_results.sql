-- What the rules found in each file the last time, as JSON. It outlives the runs.
CREATE TABLE rules_results (
    file TEXT PRIMARY KEY,
    result BLOB NOT NULL,
    stored REAL NOT NULL
) STRICT, WITHOUT ROWID;
