"""Satellites and planets."""
