"""The MCP face of Shiguan: scope binding, tools, resources, transports, settings and the command line."""
