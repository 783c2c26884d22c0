"""Declares the terms of kebab, and the ports through which pipelines use adapters.

- **Source**: a root of documents: a folder, or standard input.
- **Document**: one file of a source, identified by its path below the root. Its id survives
  edits and moves.
- **Asset**: the bytes of a document by content hash; equal files share one.
- **Block**: a part of a document that a parser recognises: a heading, a paragraph, a table, a
  code fence. A block has its exact position.
- **Chunk**: the unit of the index: consecutive text that fits the embedder's window. Its text is
  a slice of the document's text.
- **Key**: the integer that identifies a chunk in the stores; never reused.
- **Hit**: a chunk that matches a query, with its scores.
- **Citation**: the place of a hit in the user's file.
- **Revision**: a number that grows with every change of the index; a reader sees one.
"""
