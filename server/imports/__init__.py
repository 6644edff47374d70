"""Getting the files of other programs into the memory."""
