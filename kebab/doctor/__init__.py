"""Checks the health of a knowledge base, and names the command that repairs each fault.

Every check gets its inputs as callables; `kebab.app` connects them to the adapters.
"""
