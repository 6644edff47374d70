"""The tools, a module a toolset."""
