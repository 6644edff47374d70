"""Texts for models, and the loader that reads them."""
