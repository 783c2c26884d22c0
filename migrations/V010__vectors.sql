-- Which vectors belong to no chunk is a difference of keys, and needs no marks.
DROP TABLE vector_garbage;
DELETE FROM kv WHERE name IN ('old_vectors', 'vectors_dirty', 'vector_files');
-- The files of the sources are the truth, so rows have no checksums.
ALTER TABLE documents DROP COLUMN checksum;
DELETE FROM kv WHERE name = 'corpus_state';
