"""The live pages of optima: with nothing wrong the plant makes the optimal motion and stays at the goal; off its start,
or with other masses, it arrives with feedback only."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad import studies
from naiad.studies.live import study_page, with_parameters
from naiad.studies.progress import Progress
from tests.viz.live.modules import PageText

AFRESH = 1


class Page:
    """A page in wasmtime, its sliders moved by name."""

    def __init__(self, study):
        self.text = PageText(study_page(study))
        self.module, self.h = self.text.module(), study.live().dt
        self.numbers = {each["name"]: k for k, each in enumerate(self.text.data["live"]["sliders"])}

    def run(self, steps, **values):
        """Distance from the goal, distance from the optimum, and controls, at the nodes after the first."""
        given = {self.numbers[name]: value for name, value in values.items()}
        self.module.run(begin=AFRESH, t0=0.0, h=self.h, count=0, every=1, values=given)
        rows = self.module.run(count=steps, every=1)
        return [rows[f"frames.rows.outputs.output{k}"][:steps] for k in range(3)]


def followed(study, steps, **sliders):
    """The distances from goal and optimum over nodes, and the controls, of the plant of a study in Python."""
    page = study.live()
    values = {name: slider.value for name, slider in page.sliders.items() if getattr(slider, "value", None) is not None}
    system, start = nd.double(lambda: page.build(with_parameters(study, values | sliders)))()
    return nd.simulate(
        system,
        system.state(g=start.g, mu=start.mu),
        t1=steps * page.dt,
        dt=page.dt,
        method=next(iter(page.methods.values())),
        outputs={name.replace(" ", "_"): function for name, function in page.outputs.items()},
        progress=False,
    )


def turn(**more):
    return studies.find("reorientation")(order=2, steps=16, **more)


def test_the_page_of_a_turn_makes_the_optimal_motion_and_stays_at_the_goal():
    study = turn()
    plan, page = study.optimum(Progress()), Page(study)
    goal, off, u = page.run(48)
    assert np.max(off) < 1e-7
    assert goal[0] > 1.5
    assert np.max(goal[15:]) < 1e-7
    np.testing.assert_allclose(u[:15], plan.u[1:, 0], atol=1e-6)
    assert np.max(np.abs(u[16:])) < 1e-5


def test_a_turn_that_begins_elsewhere_with_another_body_arrives_with_feedback_only():
    page, wrong = Page(turn()), {"off": (0.3, -0.2, 0.3), "J": (1.2, 2.0, 2.7)}
    missed = {feedback: page.run(48, feedback=feedback, **wrong)[0][[15, 47]] for feedback in (0.0, 1.0)}
    assert missed[0.0].min() > 0.3
    assert missed[1.0][0] < 0.05
    assert missed[1.0][1] < 1e-3


def test_controls_stay_within_the_bounds_of_the_plan():
    study = turn(bound=8.0)
    u = Page(study).run(48, off=(0.8, -0.8, 0.8))[2]
    assert np.max(np.abs(u)) == pytest.approx(8.0, rel=1e-12)


@pytest.mark.long
def test_the_page_computes_what_python_does():
    study = turn()
    goal = Page(study).run(40, off=(0.3, -0.2, 0.3), feedback=0.7)[0]
    run = followed(study, 40, off=np.array([0.3, -0.2, 0.3]), feedback=0.7)
    np.testing.assert_allclose(goal, run.record["distance_from_the_goal"][1:], atol=1e-12)


@pytest.mark.long
def test_a_pendulum_falls_without_feedback_and_comes_up_with_it():
    """The torque alone loses against a hundredth; the regulator lifts the rod from a tenth off, and holds it."""
    study = studies.find("swing-up")(mass=(1.0,), length=(1.0,), order=2, steps=40)
    lost = followed(study, 160, off=np.array([0.01]), feedback=0.0).record["distance_from_the_goal"]
    kept = followed(study, 160, off=np.array([0.1]), mass=np.array([1.1])).record["distance_from_the_goal"]
    assert np.max(lost[40:]) > 2.0
    assert kept[40] < 0.02
    assert kept[-1] < 1e-4


@pytest.mark.long
@pytest.mark.parametrize("order", [2, 4, 6])
def test_plans_of_all_orders_are_followed_to_the_tolerance_of_the_solver(order):
    study = studies.find("reorientation")(order=order, steps=12)
    run = followed(study, 36)
    assert np.max(run.record["distance_from_the_optimum"]) < 1e-7
    halves = followed(study, 36, off=np.array([0.2, 0.1, -0.2])).record["distance_from_the_goal"]
    assert halves[-1] < 1e-4


@pytest.mark.long
def test_what_no_control_holds_is_let_go():
    """A vehicle with torques and surge stays where it is; a pendulum that is raised half-way by its elbow does not."""
    assert studies.find("vehicle-docking")(order=2, steps=16).live().note.endswith("the goal is held")
    arm = studies.find("swing-up")(actuated=(1.0, 2.0), goal=(0.6, 0.3), T=1.0, order=2, steps=16)
    assert "the goal is held" in arm.live().note
    one = studies.find("swing-up")(actuated=(1.0,), goal=(0.6, 0.3), T=1.0, order=2, steps=32)
    page = one.live()
    assert "the controls are zero" in page.note
    values = {name: slider.value for name, slider in page.sliders.items() if getattr(slider, "value", None) is not None}
    system, _ = nd.double(lambda: page.build(with_parameters(one, values)))()
    assert not system.holds
    assert not np.any(system.course.u[-1])


def test_the_first_plan_of_predictive_control_is_followed_by_a_heavier_vehicle_and_the_page_says_that_it_is_kept():
    study = studies.find("mpc-docking")(steps=16)
    page = Page(study)
    missed = {feedback: page.run(48, feedback=feedback, mismatch=0.5)[0][[15, 47]] for feedback in (0.0, 1.0)}
    assert missed[0.0].min() > 1.0
    assert missed[1.0][0] < 0.2
    assert missed[1.0][1] < 1e-3
    assert "the first plan is kept" in study.live().note
    assert page.text.data["live"]["sliders"][page.numbers["mismatch"]]["value"] == [0.1]


def test_a_plan_that_is_none_is_not_followed():
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    far = body.state(R=jax.device_get(nd.double(body.group.exp)(np.array([0.0, 0.0, 3.0]))))
    plan = nd.control.solve(body, body.state(), far, T=0.5, N=8, order=2, bounds=0.1, iterations=3)
    with pytest.raises(nd.errors.InputError, match="expected one that is solved"):
        nd.control.steered(plan)
