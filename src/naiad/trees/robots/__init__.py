"""Robots in files: URDF, SDF, MJCF."""
