"""Compares kebab with ripgrep as the only tool of a simulated coding agent.

`python -m tools.trial` downloads the documentation of six Python tools from the package index, asks
questions about it, and counts calls, bytes and complete answers for both tools.
"""
