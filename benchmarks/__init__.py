"""Measurements a person can run: scores, times and sizes."""
