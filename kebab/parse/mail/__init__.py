"""Reads e-mail: single messages, mailboxes, and web pages that are saved as messages."""
