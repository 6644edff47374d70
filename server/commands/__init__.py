"""The commands of `shiguan`, a module each."""
