"""Adapters for model servers: HTTP streaming, error mapping, and one chat adapter for each API."""
