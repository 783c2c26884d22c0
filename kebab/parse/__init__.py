"""Parses files: their bytes become text and blocks with exact positions.

What reads bytes raises `ParseFailed` for those that it refuses, and `DependencyMissing` where its
library is not installed. The guard in `registry` adds the path and the parser to a refusal.
"""
