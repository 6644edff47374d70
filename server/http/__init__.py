"""Serving many people over streamable HTTP: who a bearer token speaks for, what it may do, and how much of it."""
