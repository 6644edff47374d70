"""What other programs export, read as messages: one module a format, pure parsing, nothing of the memory itself."""
