"""Everything kebab says or takes as JSON, each object declared once.

`python -m tools.publish` writes the schemas and the pages made from these declarations.
"""
