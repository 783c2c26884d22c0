"""Readers of mail, calendars and contacts.

Messages have parts and attachments, which are documents of their own (`containers`).
"""
