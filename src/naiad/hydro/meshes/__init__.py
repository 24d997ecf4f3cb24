"""Bodies with a surface of triangles: checked, refined, and their inertia in an ideal fluid with its error."""
