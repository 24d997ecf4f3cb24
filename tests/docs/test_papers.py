"""The page of the papers is true: what it names exists, nothing is left out, and its numbers are computed again."""

import ast
import functools
import inspect
import re
import shlex
from typing import NamedTuple

import numpy as np
import pytest

import naiad as nd
from naiad import studies
from naiad.diagnostics import march, reference
from naiad.locomotion import FORWARD, TURNING, three_link_fish
from naiad.studies.strings.cases import CASES, CENTRE, INERTIA
from naiad.studies.study import Study
from naiad.studies.trees.three_ellipsoids import AXES, OMEGA, UNIT_MASS, XDOT, three_ellipsoids
from tests.docs.measured.numbers import ROUND_OFF, every_number
from tests.docs.test_examples import PAGES, ROOT, SOURCES, text

PAGE = text(ROOT / "docs" / "papers.md")


class Numbered(NamedTuple):
    """What has a number in a document."""

    equations: str
    figures: str
    tables: str = ""
    theorems: str = ""
    lemmas: str = ""
    definitions: str = ""
    parameters: str = ""
    """The numbers of its examples: shapes, masses, starts, steps, durations."""


DOCUMENTS = {
    "lee2009": Numbered(
        "(1)-(56)",
        "1 2",
        parameters="""8 1.5 2 5 0.8 1 8.8 -8.8 5.5 -5.5 0.2 0.1 0.5 -0.3 -0.2 -0.1 0.4 -0.6 -0.4142 -0.59 0.001 100
        1e-13 1.0659 2.1696 1.6641 0.2664 0.6551 0.3677 1.3480 20.15 25.3276 0.1961 1.7889 2.9210""",
    ),
    "bourabee2007": Numbered(
        """(1.1.1)-(1.1.2) (2.1.1)-(2.1.4) (2.2.1)-(2.2.2) (2.4.1)-(2.4.5) (2.5.1) (3.2.1) (3.3.1)-(3.3.3) (3.4.1)
        (3.6.1)-(3.6.4) (3.7.1)-(3.7.3) (4.1.1) (4.2.1)-(4.2.6) (4.3.1) (4.6.1)-(4.6.10) (4.8.1)-(4.8.2) (5.2.1)-(5.2.3)
        (5.4.1)-(5.4.4) (5.5.1)-(5.5.4) (5.6.1) (6.2.1)-(6.2.5) (6.3.1)-(6.3.2) (6.4.1)-(6.4.6) (6.5.1)-(6.5.3)
        (7.1.1)-(7.1.2) (7.2.1) (7.5.1)-(7.5.9)""",
        "1.2.1 1.2.2 2.4.1 4.1.1 4.1.2 4.6.1 5.7.1 6.6.1 6.6.2 6.6.3 7.4.1 7.5.1",
        "5.1 5.2 6.1 6.2",
        "2.1.2 2.3.1 2.5.2 3.1.3 3.4.1 3.5.1 3.7.1 3.8.1 4.2.2 4.6.1 4.7.1 4.8.1 4.9.1 5.5.1 7.1.2",
        "4.1.2 4.1.4 4.1.6 4.1.7 5.4.1 5.4.2 5.4.3",
        "2.1.1 2.4.1 2.4.2 2.5.1 3.1.1 3.1.2 3.3.1 3.6.1 4.1.1 4.1.3 4.1.5 4.2.1 4.3.1 7.1.1",
        "10 2500 0.0125 0.025 0.05 1e6 5e4 1200 900 600 0 27.04 4 0.003125 0.00625 100",
    ),
    "kanso2005": Numbered(
        "(2.1) (3.1)-(3.22) (5.1)-(5.19) (6.1)-(6.7) (7.1)-(7.14)",
        "1 2 3 4 5 6 7 8 9 10 11 12",
        parameters="10 1 2 0.3183 50 36 6.2832 0 -1",
    ),
    "lee2010": Numbered(
        "(1)-(52)",
        "1 2 3 4",
        "1",
        parameters="""0.5 1 0.025 40 100 0.4 0.8 0.1 0.3 0.2 90 99 15 2.09 0 20 0.0005 10 8 1.8 5.5 7 0.01 3e-8 1.2 3
        2.4029e-4 5.6279e-10 4.0743e-14 2.7677e-3 7.2184e-6 2.7750e-6 0.0003 1e-13""",
    ),
    "advected": Numbered(
        "(1)-(100)",
        "1 2 3",
        "1 2",
        "1 2 6 7",
        "8 10",
        "3 to 5",
        "123.8 65 70 75 5.46 5.29 5.72 1215.8 0 -0.007 9.81 0.01 1 0.1 0.8 0.17453 0.34907 500",
    ),
}
COLUMNS = ["where", "what", "printed", "naiad", "agrees", "check"]


def rows(heads):
    """The rows of the tables with these heads, each as a tuple of cells."""
    found, inside = [], False
    for line in PAGE.splitlines():
        cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        inside = bool(cells) and (inside or cells == heads)
        if inside and cells != heads and not set(line) <= set("|-"):
            found.append(tuple(cells))
    return found


TABLE, NUMBERS = rows(["where", "what", "in naiad", "check", "remark"]), rows(COLUMNS)


def spans(written):
    return re.findall(r"`([^`]+)`", written)


def equations(written):
    """The numbers of equations in a text, those of ranges one by one."""
    found = set()
    for before, first, again, last in re.findall(r"\(((?:\d+\.)*)(\d+)\)(?:\s*[-–]\s*\(((?:\d+\.)*)(\d+)\))?", written):
        assert not last or again == before, written
        found |= {f"({before}{number})" for number in range(int(first), int(last or first) + 1)}
    return found


def places(key):
    """What stands after the key in the first column of its table."""
    return [match[1] for cells in TABLE if (match := re.fullmatch(rf"\[{key}, (.+)\]", cells[0]))]


@functools.cache
def tests_in(file):
    return {node.name for node in ast.walk(ast.parse(text(ROOT / file))) if isinstance(node, ast.FunctionDef)}


def resolved(name):
    """What a dotted name after `nd.` stands for."""
    thing = nd
    for part in name.split(".")[1:]:
        thing = getattr(thing, part)
    return thing


def knows(thing, word):
    """Whether an option, or an attribute, of this name is there."""
    if isinstance(thing, type) and issubclass(thing, Study):
        return word in thing.parameters
    return hasattr(thing, word) or (callable(thing) and word in inspect.signature(thing).parameters)


def subjects(span):
    """What a code span of the page names, as a list; None if it can only be an option of something beside it."""
    if span.startswith("tests/") and "::" in span:
        file, _, name = span.partition("::")
        assert name in tests_in(file), span
        return []
    if re.match(r"(tests|src)/", span):
        assert (ROOT / span).is_file(), span
        return []
    if span == "naiad run NAME":
        return []
    if span.startswith("naiad run "):
        name, *rest = shlex.split(span)[2:]
        assert rest[::2] == ["-p"] * (len(rest) // 2), span
        studies.find(name).parse(rest[1::2])
        return [studies.find(name)]
    if span in studies.STUDIES:
        return [studies.find(span)]
    if not span.startswith("nd."):
        return None
    if "(" in span:
        eval(span, {"nd": nd})
    return [resolved(name) for name in re.findall(r"nd(?:\.\w+)+", span)]


@pytest.mark.parametrize("part", PAGE.split("\n## "), ids=lambda part: part.partition("\n")[0])
def test_every_name_command_test_and_file_exists(part):
    for line in part.splitlines():
        found = {span: subjects(span) for span in spans(line)}
        about = [thing for things in found.values() for thing in things or ()]
        for option in [span for span, things in found.items() if things is None]:
            assert any(knows(thing, option.partition("=")[0]) for thing in about), f"{option} in {line}"


@pytest.mark.parametrize("key", DOCUMENTS)
def test_every_equation_figure_and_table_has_a_row(key):
    printed = DOCUMENTS[key]
    covered = set().union(*(equations(place) for place in places(key) if place.startswith("eq")))
    assert covered == equations(printed.equations)
    for kind, numbers in (("figure", printed.figures), ("table", printed.tables)):
        assert " ".join(place.split()[1] for place in places(key) if place.startswith(kind)) == numbers
    about = " ".join(" ".join(cells[:2]) for cells in TABLE if key in cells[0])
    for kind, numbers in (("theorem", printed.theorems), ("lemma", printed.lemmas)):
        assert all(re.search(rf"{kind} {re.escape(number)}\b", about) for number in numbers.split()), kind
    definitions = [printed.definitions] if " to " in printed.definitions else printed.definitions.split()
    assert all(re.search(rf"definitions? {re.escape(number)}\b", about) for number in definitions)


@pytest.mark.parametrize("key", DOCUMENTS)
def test_every_number_of_an_example_has_a_row(key):
    given = {number.value for row in NUMBERS if key in row[0] for number in every_number(row[2])}
    missing = [number for number in DOCUMENTS[key].parameters.split() if float(number) not in given]
    assert not missing


def test_every_study_of_a_paper_has_a_row():
    """What a study says of where it is from names the authors or the key."""
    authors = re.compile("Kanso|Bou-Rabee|M. Leok|lee2009|lee2010|Y. Ono")
    of_papers = [name for name in studies.STUDIES if authors.search(studies.find(name).paper or "")]
    named = set(spans(PAGE)) | {span.split()[2] for span in spans(PAGE) if span.startswith("naiad run ")}
    assert [name for name in of_papers if name not in named] == []


def test_every_row_says_where_it_is_or_that_it_is_not():
    for where, _, home, check, remark in TABLE:
        assert home, where
        missing = "not in naiad" in home or "<!-- pending -->" in home
        assert missing or check or "not in naiad" in remark, where
        assert (
            missing or spans(home) or re.search("by automatic|element by|rows of|legs of|one Lagrangian|in place", home)
        )


def test_what_is_listed_as_missing_is_missing_in_its_row():
    listed = re.findall(r"\[(\w+, [^\]]+)\]", PAGE.partition("\n## Not in naiad\n")[2])
    assert listed
    for where in listed:
        assert any("not in naiad" in " ".join(cells[2:]) for cells in TABLE if cells[0] == f"[{where}]"), where


@pytest.mark.parametrize("key", DOCUMENTS)
def test_citations_in_the_code_say_where_and_lead_to_a_row(key):
    covered = set().union(*(equations(place) for place in places(key)))
    for path in SOURCES:
        for where in re.findall(rf"\[{key}\b([^\]]*)\]", text(path)):
            assert where.startswith(","), f"{path}: [{key}] without a section or an equation"
            if where.startswith(", eq"):
                assert equations(where) <= covered, f"{path}: [{key}{where}]"


def shown(cell):
    """The numbers of a cell, each with half a unit of its last digit."""
    return [(number.value, number.unit) for number in every_number(cell)]


def agreement(printed, naiad):
    """How the numbers of a row compare."""
    pairs = [(each, there, unit) for (each, _), (there, unit) in zip(shown(naiad), shown(printed), strict=True)]
    if printed[0] in "<>":
        holds = all(each < there if printed[0] == "<" else each > there for each, there, _ in pairs)
        return {"yes"} if holds else {"no"}
    if all(abs(each - there) <= unit * (1 + 1e-9) for each, there, unit in pairs):
        return {"yes"}
    if all(abs(each - there) <= 0.1 * abs(there) for each, there, _ in pairs):
        return {"about"}
    return {"no", "smaller"} if all(each < there for each, there, _ in pairs) else {"no"}


def test_agreement_is_what_the_rows_say():
    for _, what, printed, naiad, agrees, check in NUMBERS:
        assert check == "here" or check.startswith("`tests/"), what
        assert printed == "not printed" or agrees in agreement(printed, naiad), what


def constants(span):
    """The numbers in the source of a test, those in its strings too."""
    file, _, name = span.partition("::")
    (test,) = [
        node
        for node in ast.walk(ast.parse(text(ROOT / file)))
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    for node in ast.walk(test):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (number.value for number in every_number(node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            yield node.value


def test_numbers_that_a_test_asserts_stand_in_it():
    """To the digits of the page; what is round-off is asserted by a bound."""
    for _, what, _, naiad, _, check in NUMBERS:
        for span in spans(check):
            there = [abs(value) for value in constants(span)]
            for number in every_number(naiad):
                value, room = abs(number.value), number.unit * (1 + 1e-6)
                assert value < ROUND_OFF or any(abs(each - value) <= room for each in there), f"{number.text}: {what}"


def defaults(study, *names):
    return np.concatenate([np.ravel(studies.find(study).parameters[name].default) for name in names])


def ellipsoid(axes, mass, part):
    body = nd.hydro.Ellipsoid(axes)
    density = mass / body.volume
    return np.diag(body.added_inertia(density) + body.inertia(density))[part]


def momentum(xdot, joints):
    return np.asarray(three_ellipsoids(joints).state(R_Omega=OMEGA, x_v=xdot).mu)[-3:]


def still():
    """x' for which the linear momentum is zero: all bodies are upright, so that their masses add up."""
    return -np.linalg.solve(three_ellipsoids().tree.M.sum(axis=0), momentum(np.zeros(3), "outward"))


@functools.cache
def attitude_error(method):
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    state = body.state(Pi=(0.7, 0.8, -1.5))
    end = march(body, method, state, dt=0.01, steps=1000)
    return np.linalg.norm(np.asarray(end.g) - np.asarray(reference(body, state, t1=10.0).g))


def over_others(method):
    others = nd.TrapezoidalLieNewmark(), nd.FastLieVerlet(), nd.SimoWongPerp()
    return [attitude_error(method) / attitude_error(other) for other in others]


def in_the_row(where, name):
    """A parameter of the first command that the row of a figure shows."""
    (home,) = [cells[2] for cells in TABLE if cells[0] == f"[{where}]"]
    (command,) = [span for span in spans(home) if span.startswith("naiad run ")]
    _, _, study, *rest = shlex.split(command)
    return getattr(studies.find(study).parse(rest[1::2]), name)


def order(method):
    """By the momentum of a free body after 1 s."""
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    state = body.state(Pi=(0.7, 0.8, -1.5))
    exact = np.asarray(reference(body, state, t1=1.0).mu)
    off = [np.linalg.norm(march(body, method, state, dt=1.0 / n, steps=n).mu - exact) for n in (100, 200)]
    return np.log2(off[0] / off[1])


def swum(density):
    return np.linalg.norm(nd.locomotion.net_motion(three_link_fish(density=density), FORWARD).x)


def elliptic_cylinder():
    """The semi-axes and the height, from the inertia about the point of attachment and the mass centre of 0.1 kg."""
    central = np.array(INERTIA) / 0.1 - (np.dot(CENTRE, CENTRE) * np.eye(3) - np.outer(CENTRE, CENTRE))
    squares = 0.5 * np.trace(central) - np.diag(central)
    return np.sqrt(squares * (4.0, 4.0, 12.0))


def slope_of_the_string():
    along = CASES["retrieve"].direction
    return np.rad2deg(np.arctan2(along[0], along[2]))


def independent_entries():
    """Entries of the upper triangle of the added inertia that differ from all others, those equal by symmetry apart."""
    bodies = nd.hydro.PlanarBodies([nd.hydro.Ellipse(3.0, 1.0)] * 3, 1.0, points=64)
    M = bodies.added_inertia([(0.3, 7.0, 1.0), (-0.4, -7.5, 0.5), (0.1, 0.0, 0.0)])
    entries = np.sort(np.abs(M[np.triu_indices(9)]))
    return np.count_nonzero(np.diff(entries) > 1e-9 * entries[-1]) + 1


def body_rates(phi, theta, phi_rate, theta_rate, psi_rate):
    """The angular velocity in the body of the angles R_z(psi) R_x(theta) R_z(phi)."""
    about_z = psi_rate * np.array([np.sin(theta) * np.sin(phi), np.sin(theta) * np.cos(phi), np.cos(theta)])
    return about_z + theta_rate * np.array([np.cos(phi), -np.sin(phi), 0.0]) + np.array([0.0, 0.0, phi_rate])


LARGE, SMALL = ((8.0, 1.5, 2.0), 1.0), ((5.0, 0.8, 1.5), 0.25)
TURN = np.pi / 18
FRACTIONS = np.array([0.25, 0.5, 1.0])
COMPUTED = {
    "axes l_q of body 0, and of bodies 1 and 2 [m]": lambda: AXES[:2],
    "d_01, d_02 along e_1 [m]": lambda: three_ellipsoids().tree.other[1:, 0],
    "d_10, d_20 along e_1 [m]": lambda: three_ellipsoids().tree.own[1:, 0],
    "Ω_0, Ω_1, Ω_2 at the start [rad/s]": lambda: OMEGA,
    "ρ [kg/m³] with the printed inertias": lambda: UNIT_MASS,
    "M_0 [kg]": lambda: ellipsoid(*LARGE, slice(3, 6)),
    "M_1 [kg]": lambda: ellipsoid(*SMALL, slice(3, 6)),
    "J_0 [kg m²]": lambda: ellipsoid(*LARGE, slice(3)),
    "J_1 [kg m²]": lambda: ellipsoid(*SMALL, slice(3)),
    "step and duration [s]": lambda: defaults("connected-bodies", "dt", "t1"),
    "ẋ_0 with zero linear momentum, joints outward [m/s]": still,
    "linear momentum with d_10 as printed [kg m/s]": lambda: momentum(XDOT, "printed"),
    "step [days], from 1994 to": lambda: (
        *defaults("outer-solar-system", "dt"),
        *(1994.68 + defaults("outer-solar-system", "t1") / 365.25),
    ),
    "Π·p, p·p, H of all orbits": lambda: defaults("poincare-section", "pi_dot_p", "p_norm", "energy") ** (1, 2, 1),
    "steps [s]": lambda: defaults("poincare-section", "dt") * FRACTIONS,
    "duration [s], by the command in its row": lambda: in_the_row("bourabee2007, figure 6.6.1", "t1"),
    "duration [s] of an orbit": lambda: defaults("poincare-section", "t1"),
    "CPU time [s] of a panel, 20, 15 and 10 minutes there, by the command in its row": lambda: in_the_row(
        "bourabee2007, figure 6.6.2", "cpu"
    ),
    "steps [s] of SW and SW⊥": lambda: 0.0125 * FRACTIONS,
    "how many times shorter the runs of figure 6.6.3 are than those of 6.6.1": lambda: (
        1e6 / defaults("poincare-section", "t1")
    ),
    "order of KR": lambda: order(nd.Krysl()),
    "error of the attitude of EXP over that of TLN, FLV, SW⊥, h = 0.01 s, t = 10 s": lambda: over_others(
        nd.Variational(nd.Exponential())
    ),
    "the same of CAY": lambda: over_others(nd.Variational(nd.Cayley())),
    "duration [s] of an orbit of the section": lambda: defaults("rotor-spacecraft", "section_t1"),
    "a, b, c, ρ": lambda: defaults("three-link-fish", "a", "b", "c", "rho"),
    "I^f, m_1^f, m_2^f of these": lambda: np.diag(nd.hydro.EllipticCylinder(10.0, 1.0).added_inertia(1 / np.pi)),
    "independent entries of the added inertia": independent_entries,
    "period of the gaits [s]": lambda: FORWARD.period,
    "θ_1, θ_2 of the forward and of the turning gait at t = 0": lambda: [gait(0.0) for gait in (FORWARD, TURNING)],
    "neutral over massless distance, forward, decoupled": lambda: swum(1.0 / np.pi) / swum(0.0),
    "b, d, κ_d, μ, EA, L": lambda: defaults("string-pendulum", "b", "d", "kappa_d", "mu", "EA", "L"),
    "M, ρ_c, elements, step": lambda: defaults("string-pendulum", "M", "rho_c", "elements", "dt"),
    "semi-axes and height of the body [m], from J and ρ_c": elliptic_cylinder,
    "slope of the string in the third case [degrees]": slope_of_the_string,
    "velocity of the end at the start [m/s]": lambda: defaults("string-pendulum", "v_end0"),
    "s_p at the start, and moments, of the three cases": lambda: [getattr(c, n) for n in ("s_p", "u") for c in cases()],
    "durations [s]": lambda: [case.t1 for case in cases()],
    "m, M_A, J, ρ|V|g, r": lambda: defaults("buoyant-vehicle", "m", "added_mass", "J", "buoyancy", "r"),
    "g [m/s²]": lambda: inspect.signature(nd.models.BuoyantVehicle).parameters["gravity"].default[2],
    "h, q_0, v_0": lambda: defaults("buoyant-vehicle", "dt", "q0", "v0"),
    "ω_0 from the rates of the Euler angles [rad/s]": lambda: body_rates(2 * np.pi, 0.0, TURN, TURN, TURN),
    "duration [s]": lambda: defaults("buoyant-vehicle", "t1"),
}
"""The numbers of the rows that say `here`, by what they are."""


def cases():
    return [CASES[name] for name in ("fixed", "deploy", "retrieve")]


def test_every_row_that_says_here_is_computed():
    assert [row[1] for row in NUMBERS if row[5] == "here"] == list(COMPUTED)


def computed():
    """The rows that say `here`; those of errors of runs take longer."""
    for row in NUMBERS:
        if row[5] == "here":
            late = [pytest.mark.long] if row[0] == "[bourabee2007, section 5.7]" else []
            yield pytest.param(row, id=row[1][:40], marks=late)


@pytest.mark.parametrize("row", list(computed()))
def test_numbers_are_those_of_the_code(row):
    found = np.ravel(COMPUTED[row[1]]())
    for value, (number, unit) in zip(found, shown(row[3]), strict=True):
        assert abs(value - number) <= unit * (1 + 1e-6)


def test_the_start_of_the_vehicle_has_the_rates_of_the_table():
    np.testing.assert_allclose(defaults("buoyant-vehicle", "omega0"), body_rates(0, 0, TURN, TURN, TURN), atol=1e-15)


@pytest.mark.parametrize("theta", [(0.7, -0.4), (-1.1, 2.0)])
def test_the_locked_inertia_of_the_fish_is_the_printed_one(theta):
    """(7.5)-(7.10) of the paper, written out."""
    fish = three_link_fish(density=0.2)
    K = fish.inertias(np.array(theta))[0]
    j, m1, m2 = np.diag(nd.hydro.EllipticCylinder(10.0, 1.0).added_inertia(1 / np.pi)) + 0.2 * np.pi * 10.0 * np.array(
        [101.0 / 4.0, 1.0, 1.0]
    )
    (c1, c2), (s1, s2) = np.cos(theta), np.sin(theta)
    (C1, C2), (S1, S2) = np.cos(2 * np.array(theta)), np.sin(2 * np.array(theta))
    length = 12.0
    J = 3 * j + length**2 * (m2 * ((1 + c1) ** 2 + (1 + c2) ** 2) + m1 * (s1**2 + s2**2))
    d = length * np.array([-m2 * (s1 - s2) - 0.5 * (m2 - m1) * (S1 - S2), m2 * (c1 - c2) + 0.5 * (m2 - m1) * (C1 - C2)])
    squares, across = (1 + c1**2 + c2**2, s1**2 + s2**2), -0.5 * (m2 - m1) * (S1 + S2)
    M = [
        [m1 * squares[0] + m2 * squares[1], across],
        [across, m2 * squares[0] + m1 * squares[1]],
    ]
    np.testing.assert_allclose(K[:3, :3], np.block([[np.array([[J]]), d[None]], [d[:, None], np.array(M)]]), rtol=1e-12)
    for alpha, sign in ((0, 1.0), (1, -1.0)):
        c, s = np.cos(theta[alpha]), np.sin(theta[alpha])
        column = [j + length**2 * m2 * (1 + c), -sign * length * m2 * s, sign * length * m2 * c]
        np.testing.assert_allclose(K[:3, 3 + alpha], column, rtol=1e-12)


def test_the_identities_of_lemma_10():
    """(82)-(87) of the paper on advected parameters, (83) with the factor 2 that its pairing asks for."""
    rng = np.random.default_rng(0)
    w, root = rng.standard_normal(3), rng.standard_normal((3, 3))
    J = root @ root.T
    Jd = 0.5 * np.trace(J) * np.eye(3) - J

    def hat(x):
        return np.cross(x, np.eye(3)).T

    W, Jw = hat(w), J @ w
    np.testing.assert_allclose(hat(Jw), W @ Jd + Jd @ W, atol=1e-13)
    assert Jw @ w == pytest.approx(2 * 0.5 * np.trace((Jd @ W).T @ W))
    np.testing.assert_allclose(hat(np.cross(w, Jw)), W @ W @ Jd - Jd @ W @ W, atol=1e-12)
    right = w @ w * Jw + np.cross(w, np.cross(w, Jw))
    np.testing.assert_allclose(W @ hat(Jw) @ W, -hat(right), atol=1e-12)
    np.testing.assert_allclose(W @ W @ W, -(w @ w) * W, atol=1e-13)


def test_the_page_is_in_the_navigation():
    assert "papers.md" in text(ROOT / "mkdocs.yml")
    assert ROOT / "docs" / "papers.md" in PAGES
