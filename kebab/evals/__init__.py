"""Evaluation of search on golden questions: a surface that knows the facade alone."""
