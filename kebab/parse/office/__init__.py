"""Parses documents, presentations and workbooks of office programs."""
