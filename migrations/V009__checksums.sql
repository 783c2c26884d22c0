-- A checksum of what is stored of each document, besides the text of its passages, which has hashes.

-- The writer fills it for documents that an earlier version stored.
ALTER TABLE documents ADD COLUMN checksum TEXT NOT NULL DEFAULT '';
