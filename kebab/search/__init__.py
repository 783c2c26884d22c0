"""Searches the library: from a query to ranked passages with their evidence.

`engine` runs the stages in order: `query_parser` parses the query, `retrieval` collects candidates
from `lexical` and `vector`, `fusion` and `boosts` order them, `answerability` calibrates scores,
and `page` builds the hits with `snippet`. The package sees the stores and the model through ports.
"""
