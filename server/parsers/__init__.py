"""The arguments of every command. Standard library only, so that a host's hook starts in milliseconds."""
