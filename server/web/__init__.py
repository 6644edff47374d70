"""The pages: what is remembered, shown to a person in a browser."""
