"""Searches the library: from a query to ranked passages with their evidence.

`engine` runs the stages in order: `query_parser` parses the query, `retrieval` collects candidates
from `lexical` and `vector`, `ranking` orders them, `answerability` calibrates scores, and `engine`
builds the page with `snippet`. The package sees the stores and the model through ports.
"""
