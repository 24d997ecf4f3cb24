"""The overview figure: the right panels for every kind of trajectory, with the right numbers in them."""

import sys

import matplotlib
import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

import naiad as nd
from naiad.errors import InputError
from naiad.viz import paths, plot
from naiad.viz.lines import by_size
from naiad.viz.thinning import LIMIT

MANY = np.arange(1.0, 14.0)
PANELS = {
    "SO3": ["Omega", "energy", "momentum", "sphere"],
    "S3": ["Omega", "energy", "momentum", "sphere"],
    "SE3": ["Omega", "v", "energy", "momentum", "space"],
    "record": ["Pi", "p", "space"],
    "SO2": ["Omega", "beta", "energy"],
    "SE2": ["Omega", "v", "beta", "energy", "momentum", "plane"],
    "R1": ["v", "q", "energy"],
    "R2": ["v", "plane"],
    "R4": ["v", "q"],
    "SO5": ["Omega", "energy", "momentum"],
    "power": ["Omega", "energy", "momentum", "sphere"],
    "power_SE3": ["Omega", "v", "space"],
    "power_SO2": ["Omega", "beta"],
    "product": ["Omega", "v", "energy", "momentum", "space"],
    "named": ["Omega", "v", "beta", "momentum", "space"],
    "frame": ["Omega", "v", "energy", "momentum", "space"],
    "frame_SO3": ["Omega", "energy", "momentum", "sphere"],
}
LABELS = {
    "Omega": "angular velocity\n$\\Omega$ [rad/s]",
    "v": "velocity\n$v$ [m/s]",
    "Pi": "angular momentum\n$\\Pi$ [kg m²/s]",
    "p": "momentum\n$p$ [kg m/s]",
    "energy": "energy error\n",
    "momentum": "momentum error\n",
    "beta": "angle $",
    "q": "$\\mathrm{q}$",
    "plane": "$y$ [m]",
}


def axes_by_panel(figure: Figure, names: list[str]) -> dict:
    assert len(figure.axes) == len(names)
    return dict(zip(names, figure.axes, strict=True))


def lines(ax) -> list:
    """The lines with data: legends have lines without."""
    return [line for line in ax.lines if len(line.get_xdata())]


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def draw(figure: Figure) -> np.ndarray:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def test_every_kind_has_its_panels(case):
    name, data = case
    figure = plot(data, title="A title with $ and _")
    panels = axes_by_panel(figure, PANELS[name])
    for panel, ax in panels.items():
        if panel in LABELS:
            assert ax.get_ylabel().startswith(LABELS[panel])
        assert (ax.name == "3d") == (panel in ("sphere", "space"))
    assert figure.get_suptitle() == "A title with $ and _"
    assert len(np.unique(draw(figure))) > 10


def test_the_errors_are_the_formulas(trajectories):
    data = trajectories["SO3"]
    panels = axes_by_panel(plot(data), PANELS["SO3"])
    E, J = data["energy"].to_numpy(), data["momentum"].to_numpy()
    (energy,), (momentum,) = lines(panels["energy"]), lines(panels["momentum"])
    np.testing.assert_array_equal(energy.get_xdata(), data["time"])
    np.testing.assert_array_equal(energy.get_ydata(), (E - E[0]) / abs(E[0]))
    wanted = np.sqrt(((J - J[0]) ** 2).sum(1)) / np.sqrt((J[0] ** 2).sum())
    np.testing.assert_allclose(momentum.get_ydata(), wanted, rtol=1e-12)
    assert panels["energy"].get_ylabel() == "energy error\n$(E-E_0)/|E_0|$"
    assert panels["momentum"].get_ylabel() == "momentum error\n$|J-J_0|/|J_0|$"


def test_negative_energy_keeps_the_sign_of_its_error(trajectories):
    data = trajectories["SO3"].assign(energy=("time", np.linspace(-2.0, -1.0, 301)))
    (energy,) = lines(axes_by_panel(plot(data), PANELS["SO3"])["energy"])
    np.testing.assert_allclose(energy.get_ydata(), np.linspace(0.0, 0.5, 301))


def test_errors_are_absolute_from_zero(trajectories):
    data = trajectories["SO3"].copy()
    data["energy"] = ("time", np.linspace(0.0, 3.0, 301))
    data["momentum"] = (("time", "k"), np.outer(np.linspace(0.0, 1.0, 301), [3.0, 0.0, 4.0]))
    panels = axes_by_panel(plot(data), PANELS["SO3"])
    np.testing.assert_array_equal(lines(panels["energy"])[0].get_ydata(), data["energy"])
    np.testing.assert_allclose(lines(panels["momentum"])[0].get_ydata(), np.linspace(0.0, 5.0, 301))
    assert panels["energy"].get_ylabel().endswith("$E-E_0$ [J]")
    assert panels["momentum"].get_ylabel().endswith("$|J-J_0|$, absolute")


def test_velocities_by_component(trajectories):
    data = trajectories["SE3"]
    panels = axes_by_panel(plot(data), PANELS["SE3"])
    for name in ("Omega", "v"):
        np.testing.assert_array_equal([line.get_ydata() for line in lines(panels[name])], data[name].to_numpy().T)
    assert texts(panels["Omega"]) == [f"$\\Omega_{{{i}}}$" for i in (1, 2, 3)]


def test_units_of_the_data_win(trajectories):
    data = trajectories["R2"].copy()
    data["v"].attrs["units"] = "furlong/fortnight"
    assert "[furlong/fortnight]" in plot(data).axes[0].get_ylabel()


def test_bodies_of_a_product_by_dashes(trajectories):
    data = trajectories["product"]
    ax = plot(data).axes[0]
    drawn = lines(ax)
    np.testing.assert_array_equal(drawn[0].get_ydata(), data["R0_Omega"][:, 0])
    np.testing.assert_array_equal(drawn[5].get_ydata(), data["R1_Omega"][:, 2])
    assert drawn[0].get_linestyle() != drawn[3].get_linestyle()
    assert drawn[0].get_color() == drawn[3].get_color()
    assert texts(ax)[3:] == ["body 0", "body 1"]


def test_bodies_have_the_names_that_they_were_given(trajectories):
    data = trajectories["power_SE3"].assign_attrs(bodies=["hull", "float", "tip"])
    assert texts(plot(data).axes[0])[3:] == ["hull", "float", "tip"]


def test_many_bodies_are_sampled(trajectories):
    ax = plot(trajectories["power"]).axes[0]
    drawn = lines(ax)
    assert len(drawn) == 12 * 3
    np.testing.assert_array_equal(drawn[0].get_ydata(), trajectories["power"]["Omega"][:, 0, 0])
    np.testing.assert_array_equal(drawn[-1].get_ydata(), trajectories["power"]["Omega"][:, 19, 2])
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "12 of 20 bodies"


def test_path_in_space_and_plane(trajectories):
    x = trajectories["SE3"]["x"].to_numpy()
    ax = plot(trajectories["SE3"]).axes[-1]
    np.testing.assert_array_equal(ax.lines[0].get_data_3d(), x.T)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()) == ("$x$ [m]", "$y$ [m]", "$z$ [m]")
    ax = plot(trajectories["SE2"]).axes[-1]
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), trajectories["SE2"]["x"])
    assert ax.get_aspect() == 1


@pytest.mark.parametrize("name", ["SO3", "S3"])
def test_body_axes_on_the_sphere(trajectories, name):
    data = trajectories[name]
    R = data["R"].to_numpy() if name == "SO3" else Rotation.from_quat(data["q"], scalar_first=True).as_matrix()
    ax = plot(data).axes[-1]
    curves = {line.get_label(): np.array(line.get_data_3d()) for line in ax.lines}
    behind = [np.array(line.get_data_3d()) for line in ax.lines if line.get_label() == "_behind"]
    for axis in range(3):
        front, back = curves[f"body axis {axis + 1}"], behind[-3 + axis]
        together = np.where(np.isnan(front), back, front)
        np.testing.assert_allclose(together, R[:, :, axis].T, atol=1e-12)
        assert np.isnan(front).any()
        assert np.isnan(back).any()


def test_a_run_that_went_wrong_is_still_drawn(trajectories):
    for name in ("SE3", "S3", "SE2", "power"):
        broken = trajectories[name].copy(deep=True)
        for variable in broken.data_vars.values():
            variable[150:] = np.nan
        draw(plot(broken))


def test_standing_still_is_drawn(trajectories):
    for name in ("SE3", "SE2"):
        still = trajectories[name].isel(time=np.zeros(5, int)).assign_coords(time=np.arange(5.0))
        draw(plot(still))


def test_long_runs_keep_their_extremes():
    time = np.linspace(0.0, 1.0, 300_001)
    energy = 1.0 + 1e-9 * np.sin(9e4 * time)
    energy[123_456], energy[200_001] = 2.0, 0.5
    data = xr.Dataset({"energy": ("time", energy)}, {"time": time})
    figure = plot(data)
    values = lines(figure.axes[0])[0].get_ydata()
    assert len(values) <= 21_000
    assert (values.max(), values.min()) == (1.0, -0.5)
    draw(figure)


def test_only_attitudes_that_are_drawn_are_looked_at(monkeypatch):
    """Of a long run: as quaternions all of them take longer than the figure."""
    seen, read = [], paths.bodies
    monkeypatch.setattr(paths, "bodies", lambda dataset: seen.append(dataset.sizes["time"]) or read(dataset))
    time = np.linspace(0.0, 10.0, 50_001)
    R = Rotation.from_rotvec(np.outer(time, [0.0, 0.0, 1.0])).as_matrix()
    figure = plot(xr.Dataset({"R": (("time", "axis", "body_axis"), R)}, {"time": time}))
    assert seen == [paths.MOST_POINTS]
    (first,) = (line for line in figure.axes[0].lines if line.get_label() == "body axis 1")
    assert first.whole[-1] == pytest.approx([np.cos(10.0), np.sin(10.0), 0.0])


def test_what_cannot_be_plotted():
    with pytest.raises(InputError, match="coordinate 'time'"):
        plot(xr.Dataset({"R": ("k", [1.0])}))
    with pytest.raises(InputError, match="at least one frame"):
        plot(xr.Dataset({"energy": ("time", [])}, {"time": []}))
    with pytest.raises(InputError, match="found speed; name what is to be drawn in `variables`"):
        plot(xr.Dataset({"speed": ("time", [1.0])}, {"time": [0.0]}))


def test_no_global_state(trajectories):
    before = dict(matplotlib.rcParams)
    draw(plot(trajectories["SO3"]))
    assert dict(matplotlib.rcParams) == before
    figures = sys.modules.get("matplotlib.pyplot")
    assert figures is None or not figures.get_fignums()


@pytest.mark.parametrize(
    ("down", "axis", "other"), [((0.0, 0.0, 1.0), 2, 1), ((0.0, 9.81, 0.0), 1, 0), ((0.0, -1.0, 0.0), 1, None)]
)
def test_gravity_is_drawn_downwards(trajectories, down, axis, other):
    ax = plot(trajectories["SE3"].assign_attrs(down=down)).axes[-1]
    draw(ax.figure)
    x = np.zeros((2, 4))
    x[:, 3] = 1.0
    x[1, :3] = down
    low, high = (point[1] / point[3] for point in (ax.get_proj() @ x.T).T)  # on the screen
    assert high < low
    inverted = [each.get_inverted() for each in (ax.xaxis, ax.yaxis, ax.zaxis)]
    assert [k for k, each in enumerate(inverted) if each] == ([] if other is None else sorted((axis, other)))
    labels = (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel())
    assert ("downwards" in labels[axis]) == (other is not None)


TIME = np.linspace(0.0, 10.0, 60)
ROUND = np.stack([np.cos(TIME), 0.6 * np.sin(TIME), 0.8 * np.sin(TIME)], 1)
PATHS = {
    "tall": np.stack([0.1 * np.sin(TIME), 0.1 * np.cos(TIME), 20 * TIME], 1),
    "flat": ROUND * [50.0, 50.0, 1e-3],
    "orbit": 7e6 * ROUND,
    "far": 7e6 + ROUND,
    "small": 1e-5 * ROUND,
    "long": np.stack([1e3 * TIME, np.sin(TIME), np.cos(TIME)], 1),
}


@pytest.mark.parametrize("name", PATHS)
def test_ticks_in_space_stand_apart(name):
    """No number on an axis of a path covers another, nor the label of the upright axis."""
    data = xr.Dataset({"x": (("time", "axis"), PATHS[name])}, {"time": TIME}, {"down": (0.0, 0.0, 1.0)})
    ax = plot(data, variables="path").axes[-1]
    draw(ax.figure)
    renderer = ax.figure.canvas.get_renderer()
    boxes = []
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        texts = [tick.label1 for tick in axis.get_major_ticks() if tick.label1.get_text()]
        assert texts
        boxes += [text.get_window_extent(renderer).padded(-1.0) for text in texts]
    boxes.append(ax.zaxis.label.get_window_extent(renderer))  # the others are turned: their boxes say little
    assert not [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]


def test_axes_in_space_say_their_power_of_ten_and_what_is_common():
    def labels(name):
        ax = plot(xr.Dataset({"x": (("time", "axis"), PATHS[name])}, {"time": TIME}), variables="path").axes[-1]
        draw(ax.figure)
        return ax.get_xlabel(), [float(tick.label1.get_text().replace("−", "-")) for tick in ax.xaxis.get_major_ticks()]

    assert labels("orbit") == ("$x$ [$10^{6}$ m]", [-5.0, 0.0, 5.0])
    assert labels("far") == ("$x - 7000000$ [m]", [-0.5, 0.0, 0.5])
    assert labels("small") == ("$x$ [$10^{-6}$ m]", [-5.0, 0.0, 5.0])


def test_what_is_drawn_is_chosen_by_name(trajectories):
    data = trajectories["SE3"].assign(tilt=("time", np.sin(trajectories["SE3"]["time"].to_numpy())))
    figure = plot(data, variables=["tilt", "x", "energy", "energy_error"])
    tilt, place, energy, error = figure.axes
    np.testing.assert_array_equal(lines(tilt)[0].get_ydata(), data["tilt"])
    np.testing.assert_array_equal([line.get_ydata() for line in lines(place)], data["x"].to_numpy().T)
    np.testing.assert_array_equal(lines(energy)[0].get_ydata(), data["energy"])
    np.testing.assert_array_equal(lines(error)[0].get_ydata(), (data["energy"] - data["energy"][0]) / data["energy"][0])
    assert [ax.get_ylabel() for ax in (tilt, place, energy)] == [f"$\\mathrm{{{n}}}$" for n in ("tilt", "x", "energy")]
    assert [ax.name for ax in plot(data, variables=("path", "R")).axes] == ["rectilinear", "3d"]
    assert texts(plot(data, variables="R").axes[0])[:4] == [
        "$\\mathrm{R}_{11}$",
        "$\\mathrm{R}_{12}$",
        "$\\mathrm{R}_{13}$",
        "$\\mathrm{R}_{21}$",
    ]
    with pytest.raises(
        InputError, match=r"variables: 'tlit' is not there to draw; expected some of R, x, .* tilt, .* path"
    ):
        plot(data, variables=["tlit"])
    with pytest.raises(InputError, match=r"'a.png' is not there to draw; .* by plot\(\).savefig\('a.png'\)"):
        plot(data, variables="a.png")
    with pytest.raises(InputError, match="variables is empty"):
        plot(data, variables=[])


def test_outputs_of_a_run_are_drawn():
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    state = body.state(Omega=(0.2, 1.0, 0.1))
    options = {
        "t1": 1.0,
        "dt": 0.05,
        "outputs": {"tilt": lambda state, t: state.g[2, 2], "many": lambda s, t: s.g.sum() * MANY},
    }
    nodes, apart = (
        nd.simulate(body, state, **options),
        nd.simulate(body, state, **options, output_every=2, save_every=5),
    )
    for run, clock in ((nodes, "time"), (apart, "output_time")):
        figure = run.plot()
        panels = [ax.get_ylabel() for ax in figure.axes]
        assert panels[3] == "$\\mathrm{tilt}$"
        assert len(panels) == 5  # not the one of many numbers
        drawn = lines(figure.axes[3])[0]
        np.testing.assert_array_equal(drawn.get_xdata(), run.record[clock])
        np.testing.assert_array_equal(drawn.get_ydata(), run.record["tilt"])
        assert [len(lines(ax)) for ax in run.plot(("tilt", "many")).axes] == [1, 13]


def test_series_of_very_different_size_have_their_own_panels(trajectories):
    data = trajectories["SE3"]
    v = data["v"].to_numpy() * [1000.0, 1.0, 0.0]
    large, small = plot(data.assign(v=(("time", "v_0"), v)), variables="v").axes
    assert [texts(ax) for ax in (large, small)] == [["$v_{1}$", "$v_{3}$"], ["$v_{2}$"]]
    np.testing.assert_array_equal(lines(small)[0].get_ydata(), v[:, 1])
    assert len(plot(data, variables="v").axes) == 1


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ([1.0, 20.0, 0.0], [[0, 1, 2]]),
        ([1.0, 30.0, 1e-12], [[1, 2], [0]]),
        ([1.0, 20.0, 400.0], [[0, 1, 2]]),
        ([1.0, 1e3, 1e6, 2.0], [[2], [1], [0, 3]]),
        ([0.0, 0.0], [[0, 1]]),
        ([np.nan, 1.0], [[0, 1]]),
    ],
)
def test_series_by_size(sizes, groups):
    assert by_size([size * np.array([0.1, -1.0, np.nan]) for size in sizes]) == groups


def test_units_that_nobody_knows_are_not_guessed(trajectories):
    data = trajectories["R2"].copy()
    data["v"].attrs["long_name"] = "velocity"
    data["q"].attrs["long_name"] = "coordinates"
    velocity, path = plot(data).axes
    assert velocity.get_ylabel() == "velocity\n$v$"
    assert path.get_xlabel() == "$x$"


def test_lines_over_time_have_no_more_points_than_pixels_show():
    """Of a run of a million nodes every column of pixels keeps its extremes, and the lines stay short."""
    time = np.linspace(0.0, 1e4, 10**6)
    wave = np.sin(7.0 * time)
    wave[123_456] = 3.0
    variables = {"v": (("time", "i"), np.stack([wave] * 3, 1)), "energy": ("time", 2.0 + wave)}
    figure = plot(xr.Dataset(variables, {"time": time}))
    lines = [line.get_xydata() for ax in figure.axes for line in ax.lines]
    assert max(map(len, lines)) <= 1.1 * LIMIT
    for (x, y), size in zip((line.T for line in lines), (1.0, 1.0, 1.0, 0.5), strict=True):
        assert (x[np.argmax(y)], y.max()) == (time[123_456], pytest.approx(3.0 * size))
        columns = np.searchsorted(x, np.linspace(0.0, 1e4, 601)[:-1])  # as many as the panel has pixels
        assert np.maximum.reduceat(y, columns).min() > 0.99 * size
        assert np.minimum.reduceat(y, columns).max() < -0.99 * size
