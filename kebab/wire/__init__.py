"""Declares every JSON object that kebab sends or receives.

`python -m tools.publish` writes the schemas and the pages made from these declarations.
"""
