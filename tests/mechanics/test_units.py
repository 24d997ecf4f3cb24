"""The units that a system names, wherever people read numbers of it."""

import re
import warnings

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pytest

import naiad as nd
from naiad.mechanics import units_of
from naiad.simulation.turn import too_far
from naiad.viz import animate, card

ASTRONOMICAL = nd.Units(length="AU", time="day", mass="Msun")
SI = re.compile(r"(?<![\w.#&;/-])(?:m|s|kg|J|N|m/s|rad/s)(?![\w.-])")


class Planet(nd.LagrangianSystem):
    """A body with an attitude about a fixed centre, and a place in space."""

    mass: float = 1.0
    group = nd.Product(body=nd.SE3(), flat=nd.SE2())
    units = ASTRONOMICAL

    def lagrangian(self, g, xi, t):
        return 0.5 * self.mass * xi @ xi + 1.0 / jnp.sqrt(g.body.x @ g.body.x)

    def symmetry(self, s, g):
        turn = nd.SE3().exp(jnp.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]) * s[0])
        return g._replace(body=nd.SE3().compose(turn, g.body))


def start(planet):
    return planet.state(body_x=(1.0, 0.0, 0.0), body_Omega=(0.1, 0.0, 0.2), body_v=(0.0, 1.0, 0.1), flat_v=(0.1, 0.0))


@pytest.fixture(scope="module")
def run():
    planet = Planet()
    section = nd.Section(lambda state, t: state.g.body.x[1], direction=1)
    return nd.simulate(planet, start(planet), t1=7.0, dt=0.05, sections={"side": section})


@pytest.mark.parametrize(
    ("si", "named"),
    [
        ("m/s", "AU/day"),
        ("J", "Msun AU^2/day^2"),
        ("kg m^2/s", "Msun AU^2/day"),
        ("rad/s", "rad/day"),
        ("N m", "Msun AU^2/day^2"),
        ("1/s", "1/day"),
        ("rad", "rad"),
        ("1", "1"),
        ("", ""),
        ("deg", "deg"),
        ("Pa", "Msun/AU day^2"),
        ("kg/s", "Msun/day"),
    ],
)
def test_units_of_si_are_named_anew(si, named):
    assert ASTRONOMICAL.named(si) == named
    assert nd.Units().named(si) == si


def test_empty_names_are_left_out():
    plain = nd.Units(length="", time="", mass="")
    assert [plain.named(unit) for unit in ("m/s", "J", "rad/s", "kg m", "1", "s")] == ["", "", "rad", "", "1", ""]
    assert plain.of_time(2.5) == "2.5"


def texts(run):
    """Whatever people read of a run, by where it stands."""
    found = {"print": repr(run), "card": re.sub(r"<[^>]*>", " ", re.sub(r'src="[^"]*"', "", card(run)))}
    for name, variable in {**run.dataset.variables, **run.record.variables}.items():
        found[f"unit of {name}"] = variable.attrs.get("units", "")
    for name, variable in run.crossings["side"].variables.items():
        found[f"unit of {name} at crossings"] = variable.attrs.get("units", "")
    found |= {f"unit of {each.name}": each.attrs.get("units", "") for each in (run.energy, run.work, run.xi, run.mu)}
    return found


def test_records_and_prints_are_in_the_units_of_the_system(run):
    found = texts(run)
    assert {where: text for where, text in found.items() if SI.search(text)} == {}
    assert found["print"] == "Trajectory(Planet, t = 0 .. 7 day, 140 steps, completed)"
    assert found["unit of time"] == "day"
    assert found["unit of energy"] == "Msun AU^2/day^2"
    assert found["unit of body_Omega"] == "rad/day"
    assert found["unit of flat_v"] == found["unit of body_v"] == "AU/day"
    assert found["unit of time at crossings"] == "day"
    assert run.dataset.body_x.to_numpy()[0] == pytest.approx([1.0, 0.0, 0.0])  # nothing is converted
    in_si = nd.simulate(SiPlanet(), start(SiPlanet()), t1=7.0, dt=0.05)
    np.testing.assert_array_equal(in_si.mu, run.mu)


class SiPlanet(Planet):
    """The same in SI."""

    units = nd.Units()


def test_every_axis_of_a_figure_is_in_the_units_of_the_system(run):
    seen = set()
    for figure in (run.plot(), run.plot(["energy", "energy_error", "body_x", "flat_v", "body_Omega"])):
        for ax in figure.axes:
            seen |= {ax.get_xlabel(), ax.get_ylabel(), *([ax.get_zlabel()] if hasattr(ax, "get_zlabel") else [])}
        plt.close(figure)
    brackets = {part for label in seen for part in re.findall(r"\[(.*?)\]", label)}
    assert "time [day]" in seen
    assert {"day", "AU", "AU/day", "rad/day", "Msun AU²/day²"} <= brackets
    assert not [each for each in brackets if SI.search(each)]


def test_pages_and_audits_are_in_the_units_of_the_system(run, tmp_path):
    for write in (run.animate, lambda path: animate(run.dataset, path)):
        write(tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text()
        assert "dt = 0.05 day</p>" in page
        assert '"unit":"day"' in page
    audit = str(nd.audit(run.system, start(run.system), dt=0.05, steps=20, order=False, symplectic=False))
    assert audit.startswith("Planet by Variational, dt = 0.05 day, 20 steps")
    assert not SI.search(audit)


def test_an_ensemble_is_in_the_units_of_its_system(run):
    many = nd.simulate_many(Planet(), [start(Planet())] * 2, t1=1.0, dt=0.05)
    units = {
        name: each.attrs.get("units", "") for name, each in {**many.dataset.variables, **many.runs.variables}.items()
    }
    assert not [unit for unit in units.values() if SI.search(unit)]
    assert units["time"] == units["t_end"] == "day"
    assert "dt = 0.05 day" in card(many)
    assert repr(many[0]) == "Trajectory(Planet, t = 0 .. 1 day, 20 steps, completed)"


def test_a_file_keeps_the_units(run, tmp_path):
    run.save(tmp_path / "run.zarr")
    loaded = nd.load(tmp_path / "run.zarr", run.system, run.method)
    assert loaded.t.attrs["units"] == "day"
    np.testing.assert_array_equal(loaded.t, run.t)
    assert repr(loaded) == repr(run)


def test_warnings_are_in_the_units_of_the_system():
    assert "a step of 2 day" in too_far(2.0, 2.0, "day")
    assert "dt well below 1 day" in too_far(2.0, 2.0, "day")
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    with pytest.warns(nd.RunWarning, match=r"a step of 1 year"):
        nd.simulate(Spun((1.0, 2.0, 3.0)), body.state(Omega=(0, 0, 2.0)), t1=3.0, dt=1.0)


class Spun(nd.models.RigidBody):
    """A rigid body whose unit of time is a year."""

    units = nd.Units(time="year")


def test_units_are_a_field_too():
    class Given(nd.LagrangianSystem):
        k: float
        units: nd.Units = nd.Units()
        group = nd.SO2()

        def lagrangian(self, beta, omega, t):
            return 0.5 * omega @ omega - self.k * (1 - jnp.cos(beta))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = Given(2.0, units=nd.Units(time="min"))
        run = nd.simulate(given, given.state(beta=0.1), t1=1.0, dt=0.1)
    assert run.dataset.Omega.attrs["units"] == "rad/min"
    assert units_of(Given(2.0)) == nd.Units()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lenght": "AU"}, r"Units: .*'lenght'; it takes length=, time=, mass="),
        ({"length": 3}, r"length = 3; expected a text"),
        ({"time": "m/s"}, r"time = 'm/s'; expected the name of one unit"),
    ],
)
def test_bad_units_are_refused(given, message):
    with pytest.raises(nd.InputError, match=message):
        nd.Units(**given)


def test_units_of_another_kind_are_refused():
    class Wrong(Planet):
        units = "AU"

    with pytest.raises(nd.InputError, match=r"Wrong\.units is 'AU'; expected naiad\.Units"):
        nd.simulate(Wrong(), start(Wrong()), t1=0.1, dt=0.05).dataset  # noqa: B018
