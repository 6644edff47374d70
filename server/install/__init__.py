"""Writing the memory into the settings of agent hosts, and taking it out again."""
