"""The groups in which a reader finds the parameters of a study: by their names, which mean the same in all studies."""

GROUPS = ("physics", "start", "numerics", "output")
"""In the order in which they are shown."""

_START = "altitude bend energy height inclination pitch spacing speed spin tilt p_norm pi_dot_p v1 v2 x2"
_NUMERICS = (
    "dt dts dt_implicit section_dt t1 section_t1 t_after t_move periods warm_up steps method methods scheme map order "
    "tolerance group elements boundary points harmonics degree starts seed"
)
_OUTPUT = "compare cost cpu direction frame grid lengths orbits report_times section span times"
NAMED = {
    name: group
    for group, names in (("start", _START), ("numerics", _NUMERICS), ("output", _OUTPUT))
    for name in names.split()
}


def group_of(name: str) -> str:
    """The group of a parameter: what is known by its name, what ends in 0 as an initial value, else the physics."""
    return NAMED.get(name, "start" if name.endswith("0") else "physics")
