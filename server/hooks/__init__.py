"""What an agent host's hooks do: context before an answer, the turn into the memory after it. Standard library only."""
