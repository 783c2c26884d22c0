"""Readers of what other programs export: chats and Evernote's notes."""
