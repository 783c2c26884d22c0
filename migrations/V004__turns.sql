-- The turns of sessions. Indexes go on when old turns are forgotten.

CREATE TABLE turns (
    session TEXT NOT NULL,
    turn INTEGER NOT NULL,
    question TEXT NOT NULL,
    standalone TEXT NOT NULL,
    answer TEXT NOT NULL,
    refusal TEXT,
    mode TEXT NOT NULL,
    model TEXT,
    created REAL NOT NULL,
    PRIMARY KEY (session, turn)
) STRICT;
