"""Clusters of atoms."""
