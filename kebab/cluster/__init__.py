"""Runs work on the nodes of a cluster."""
