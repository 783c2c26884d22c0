"""Programs that see the web page as people do, in a real browser."""
