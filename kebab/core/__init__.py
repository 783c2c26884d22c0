"""The nouns of kebab, and the ports that pipelines see.

- **Source**: a root that documents come from: a folder, or standard input.
- **Document**: one file of a source, known by its path below the root. Its id survives edits
  and moves.
- **Asset**: the bytes of a document by content hash; twins share one.
- **Block**: a stretch of a document that a parser saw as one thing: a heading, a paragraph, a
  table, a code fence. A block knows its exact place.
- **Chunk**: what is indexed and found: neighbouring text that fits the embedder's window. Its
  text is a slice of the document's text.
- **Key**: the integer by which the stores know a chunk; never reused.
- **Hit**: a chunk that answers a query, with its evidence.
- **Citation**: the place of a hit in the person's own file.
- **Revision**: a number that grows with every change of the index; readers see one.
"""
