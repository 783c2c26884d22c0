-- The files of the sources are the truth, so rows have no checksums.
ALTER TABLE documents DROP COLUMN checksum;
DELETE FROM kv WHERE name = 'corpus_state';
