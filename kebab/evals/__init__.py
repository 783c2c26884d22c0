"""Evaluates search on golden questions, through the facade only."""
