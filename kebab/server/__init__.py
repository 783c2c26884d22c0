"""The server: operations over HTTP and MCP, the web page, and the watcher of files."""
