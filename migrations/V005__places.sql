-- Passages of formats without lines have a place, and some repeat context such as a header row.

ALTER TABLE chunks ADD COLUMN context TEXT NOT NULL DEFAULT '';
ALTER TABLE chunks ADD COLUMN place TEXT NOT NULL DEFAULT '';
