"""The truth: documents, chunks, the word index and what is known of each vector."""
