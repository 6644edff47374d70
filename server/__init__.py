"""The MCP face of Shiguan: scope binding, tools, resources, transports, settings and the command line."""

__version__ = "0.1.0"
