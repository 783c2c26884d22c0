"""Parses PDF files and pictures by pages."""
