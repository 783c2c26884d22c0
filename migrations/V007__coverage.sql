-- What the index lacks: files that are not read, and the folders as they were listed.

-- The plan of a run. `reason` is why a file could not be read, NULL before the run has tried.
-- `indexed` is 1 for a file whose earlier content is a document.
CREATE TABLE unread_files (
    source INTEGER NOT NULL REFERENCES sources (source) ON DELETE CASCADE,
    path TEXT NOT NULL,
    indexed INTEGER NOT NULL,
    reason TEXT,
    PRIMARY KEY (source, path)
) STRICT, WITHOUT ROWID;

-- The time of each folder and of each ignore file when the folder was listed.
CREATE TABLE listed_folders (
    source INTEGER NOT NULL REFERENCES sources (source) ON DELETE CASCADE,
    path TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL,
    PRIMARY KEY (source, path)
) STRICT, WITHOUT ROWID;

-- The rules of the last listing of a whole source; NULL when it was never listed completely.
ALTER TABLE sources ADD COLUMN listed_rules TEXT;
UPDATE sources SET listed_rules = '' WHERE kind <> 'folder';

-- Whether only a part of a document is searched; its warnings say which.
ALTER TABLE documents ADD COLUMN partial INTEGER NOT NULL DEFAULT 0;
UPDATE documents SET partial = 1 WHERE warnings LIKE '%searched%'
    OR warnings LIKE '%are left out%' OR warnings LIKE '% cut%'
    OR warnings LIKE '%unreadable%' OR warnings LIKE '%only images%';
CREATE INDEX documents_partial ON documents (source) WHERE partial;
