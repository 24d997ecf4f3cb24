"""Nothing in a robot file is dropped without a word: every element of the three formats is read, noted or refused."""

import copy
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.trees.robots.assembling import assembled
from naiad.trees.robots.mjcf import mjcf_robot
from naiad.trees.robots.sdf import ADDED, sdf_robot
from naiad.trees.robots.urdf import urdf_robot
from tests.trees.robot_formats import MJCF, SDF, URDF

SHAPES_OF_URDF = """<box size="1 2 3"/> <cylinder radius="0.1" length="2"/> <capsule radius="0.1" length="2"/>
  <sphere radius="0.1"/> <mesh filename="a.stl" scale="1 2 3"/>"""
RICH_URDF = f"""<robot name="r">
  <link name="a">
    <inertial><origin xyz="0.1 0 0" rpy="0.1 0.2 0.3"/><mass value="2"/>
      <inertia ixx="0.5" iyy="0.6" izz="0.7" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial>
    {"".join(f"<collision><geometry>{each}</geometry></collision>" for each in re.findall("<.*?/>", SHAPES_OF_URDF))}
    <visual><origin xyz="1 0 0" rpy="1 0 0"/><geometry><sphere radius="1"/></geometry></visual>
  </link>
  <link name="b">
    <inertial><mass value="2"/><inertia ixx="0.5" iyy="0.6" izz="0.7"/></inertial>
    <collision><origin xyz="1 0 0" rpy="1 0 0"/><geometry><sphere radius="1"/></geometry></collision>
  </link>
  <joint name="j" type="revolute"><origin xyz="1 0 0" rpy="0 1 0"/><parent link="a"/><child link="b"/>
    <axis xyz="0 0 1"/><dynamics damping="0.1" friction="0.2" spring_stiffness="0.3" spring_reference="0"/>
    <limit lower="-1" upper="1" effort="2" velocity="3"/></joint>
</robot>"""
_A = np.random.default_rng(0).normal(size=(6, 6))
_K = _A @ _A.T + np.eye(6)
KINETIC = "".join(f"<{a}{b}>{float(_K['xyzpqr'.index(a), 'xyzpqr'.index(b)])!r}</{a}{b}>" for a, b in ADDED.split())
MOMENTS = "<inertia><ixx>0.5</ixx><iyy>0.6</iyy><izz>0.7</izz><ixy>0.01</ixy><ixz>0.02</ixz><iyz>0.03</iyz></inertia>"
SHAPES_OF_SDF = (
    "<box><size>1 2 3</size></box>",
    "<cylinder><radius>0.1</radius><length>2</length></cylinder>",
    "<capsule><radius>0.1</radius><length>2</length></capsule>",
    "<ellipsoid><radii>1 2 3</radii></ellipsoid>",
    "<sphere><radius>1</radius></sphere>",
    "<mesh><uri>a.stl</uri><scale>1 2 3</scale></mesh>",
)
POSE = '<pose relative_to="" frame="" rotation_format="euler_rpy" degrees="true">0.1 0.2 0.3 10 20 30</pose>'
RICH_SDF = f"""<sdf version="1.9"><world name="w"><model name="m">{POSE.replace("10 20 30", "1 2 3")}
  <link name="a"><pose>1 2 3 0.1 0 0</pose>
    <inertial auto="false">{POSE}<mass>2</mass>{MOMENTS}<fluid_added_mass>{KINETIC}</fluid_added_mass></inertial>
    {"".join(f'<collision name="c{i}"><geometry>{each}</geometry></collision>' for i, each in enumerate(SHAPES_OF_SDF))}
    <visual name="v">{POSE}<geometry>{SHAPES_OF_SDF[0]}</geometry></visual></link>
  <link name="b"><inertial><mass>2</mass>{MOMENTS}</inertial>
    <collision name="c">{POSE}<geometry>{SHAPES_OF_SDF[0]}</geometry></collision></link>
  <joint name="j" type="revolute"><parent>a</parent><child>b</child>{POSE}
    <axis><xyz expressed_in="">0 1 0</xyz><use_parent_model_frame>false</use_parent_model_frame>
      <dynamics><damping>0.1</damping><friction>0.2</friction><spring_stiffness>0.3</spring_stiffness>
        <spring_reference>0</spring_reference></dynamics>
      <limit><lower>-1</lower><upper>1</upper><effort>2</effort><velocity>3</velocity></limit></axis></joint>
</model></world></sdf>"""
FORMATS = {"urdf": (URDF, RICH_URDF, urdf_robot), "sdf": (SDF, RICH_SDF, sdf_robot)}
OTHER = {  # values that say something else than the default, of elements where "1" does not
    "gravity": "false",
    "allow_auto_disable": "false",
    "static": "true",
    "spring_reference": "0.1",
    "auto": "true",
    "relative_to": "b",
    "frame": "b",
    "expected_in": "a",
    "expressed_in": "a",
    "degrees": "false",
    "version": "1.4",
    "rotation_format": "quat_xyzw",
    "use_parent_model_frame": "true",
}


def items(table):
    """(element, word, mark) of every element and attribute of a table."""
    for element, words in table.items():
        for word in words.split():
            mark = word[0] if word[0] in "~!-" else ""
            yield element, word.removeprefix(mark), mark


CASES = [(name, *item) for name, (table, _, _) in FORMATS.items() for item in items(table)]


def outcome(read, root, tmp_path):
    """The links as text and the notes, or the line of a refusal."""
    file = tmp_path / "robot.xml"
    file.write_text(ET.tostring(root, encoding="unicode"))
    try:
        robot = read(file)
    except InputError as error:
        line = str(error)
    else:
        return repr(robot._replace(notes=())), robot.notes
    assert "\n" not in line
    return line, ()


def places(root, element, word):
    """Where an attribute, or a child, of an element is: the elements that have it."""
    for each in root.iter(element):
        if each.get(word[1:]) is not None if word[0] == "@" else each.find(word) is not None:
            yield each


def without(root, element, word):
    """Files without it, and with another value of it."""
    for number, _ in enumerate(places(root, element, word)):
        for way in ("lost", "other"):
            changed = copy.deepcopy(root)
            holder = list(places(changed, element, word))[number]
            if word[0] == "@":
                name = word[1:]
                holder.attrib.pop(name) if way == "lost" else holder.set(name, OTHER.get(name, "1"))
            elif way == "lost":
                holder.remove(holder.find(word))
            else:
                holder.find(word).text = OTHER.get(word, "1")
            yield changed


@pytest.mark.parametrize(("name", "element", "word", "mark"), CASES)
def test_every_element_is_read_noted_or_refused(name, element, word, mark, tmp_path):
    _, text, read = FORMATS[name]
    root = ET.fromstring(text)
    whole = outcome(read, root, tmp_path)
    assert not whole[0].startswith("/")
    if not mark:
        assert any(True for _ in places(root, element, word)), "the rich file lacks it"
        assert any(outcome(read, changed, tmp_path) != whole for changed in without(root, element, word))
        return
    found = []
    for number, _ in enumerate(root.iter(element)):
        changed = copy.deepcopy(root)
        holder = list(changed.iter(element))[number]
        if word[0] == "@":
            holder.set(word[1:], "1")
        else:
            ET.SubElement(holder, word).text = OTHER.get(word, "true" if name == "sdf" else None)
        found.append(outcome(read, changed, tmp_path))
    for links, notes in found:
        if mark == "-":
            assert word.strip("@") in links
            assert links != whole[0]
        else:
            assert links == whole[0]
            new = set(notes) - set(whole[1])
            assert len(new) == (mark == "!")
            says = rf"<{word}> .*is not read|'{word.strip('@')}' of its <{element}> is not read"
            assert all(re.search(says, note) for note in new)


@pytest.mark.parametrize("name", FORMATS)
def test_what_no_specification_has_is_noted_or_refused_everywhere(name, tmp_path):
    """Unknown children, attributes and texts, in every element that is read."""
    _, text, read = FORMATS[name]
    root = ET.fromstring(text)
    whole = outcome(read, root, tmp_path)
    count = len(list(root.iter()))
    for number in range(count):
        for what in ("child", "attribute", "tail"):
            changed = copy.deepcopy(root)
            element = list(changed.iter())[number]
            if what == "tail" and element is changed:
                continue
            if what == "child":
                ET.SubElement(element, "odd")
            elif what == "attribute":
                element.set("odd", "1")
            else:
                element.tail = "odd"
            links, notes = outcome(read, changed, tmp_path)
            told = links if links != whole[0] else " ".join(set(notes) - set(whole[1]))
            assert "odd" in told, (element.tag, what)


@pytest.mark.parametrize("name", FORMATS)
def test_what_stands_twice_is_refused(name, tmp_path):
    _, text, read = FORMATS[name]
    root = ET.fromstring(text)
    many = {"link", "joint", "visual", "collision", "model", "world"}
    for number, holder in enumerate(root.iter()):
        for at, child in enumerate(holder):
            if child.tag in many:
                continue
            changed = copy.deepcopy(root)
            outer = list(changed.iter())[number]
            outer.append(copy.deepcopy(outer[at]))
            links, _ = outcome(read, changed, tmp_path)
            assert re.search(f"there are 2 <{child.tag}>|2 shapes", links), (holder.tag, child.tag)


NUMBERS = ("4_2", "1e308", "-1e16", "nan", "inf", "infinity", "0x10", "1,5", "１", "1e-320", "", "1 2 3 4")


@pytest.mark.parametrize("value", NUMBERS)
def test_a_number_that_is_none_or_absurd_is_one_clear_line(value, tmp_path):
    for text, read, old in (
        (RICH_URDF, urdf_robot, 'mass value="2"'),
        (RICH_URDF, urdf_robot, 'sphere radius="1"'),
        (RICH_SDF, sdf_robot, "<mass>2</mass>"),
        (RICH_SDF, sdf_robot, "<length>2</length>"),
    ):
        assert old in text
        file = tmp_path / "robot.xml"
        file.write_text(text.replace(old, re.sub(r"(?<=[\">])\d", value, old), 1), encoding="utf-8")
        with pytest.raises(InputError, match=r"(mass|radius|length) = .*; expected") as raised:
            read(file)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("seed", range(2))
def test_files_with_other_numbers_are_read_or_refused_in_one_line(seed, tmp_path):
    """Any number of a file at its worst: of what is read a tree can be made, or a line says why not."""
    rng, refused = np.random.default_rng(seed), []
    for _ in range(60):
        text = RICH_URDF if rng.random() < 0.5 else RICH_SDF
        read = urdf_robot if text is RICH_URDF else sdf_robot
        found = list(re.finditer(r"(?<=[\">\s])-?\d[\d.]*(?=[\"<\s])", text.replace("a.stl", "a")))
        one = found[rng.integers(1, len(found))]
        value = rng.choice(["1e15", "-1e15", "1e-15", "1e154", "1e-300", "-0", "1e9", "0"])
        file = tmp_path / "robot.xml"
        file.write_text(text[: one.start()] + value + text[one.end() :])
        try:
            robot = read(file)
            dry = robot._replace(links=tuple(link._replace(collision=(), visual=()) for link in robot.links))
            assembled(dry, water=None, wet="collision", gravity=None)
        except InputError as error:
            refused.append(str(error))
    assert 5 < len(refused) < 55
    assert not any("\n" in line for line in refused)


HEAD = '<option gravity="0 0 0"/>'
BALL = '<geom name="{}" size="0.1" contype="0" conaffinity="0"/>'
A, B = BALL.format("p"), BALL.format("q")
POOR_MJCF = f"""<mujoco>{HEAD}<worldbody><body name="a"><freejoint name="f"/>{A}
  <body name="b" pos="1 0 0"><joint name="j" axis="0 0 1"/>{B}</body></body></worldbody></mujoco>"""
END, JOINT = "<worldbody>", 'axis="0 0 1"'
BODY, GEOM, FREE, TAIL = 'pos="1 0 0"', 'name="q" size="0.1"', '<freejoint name="f"/>', "</body></body>"
PID = '<extension><plugin plugin="mujoco.pid"/></extension><actuator><plugin plugin="mujoco.pid" joint="j"/></actuator>'
CUBE = '<flexcomp name="x" type="grid" count="2 2 2" spacing="1 1 1" dim="3" mass="1"/>'
CHANGES = {  # what is put for what, and what a note, or a refusal, says then
    "!gravity": (HEAD, '<option gravity="0 0 -1"/>', "gravity of its <option>: give gravity= is not read"),
    "!wind": (HEAD, f'{HEAD}<option wind="1 0 0"/>', "wind of its <option> is not read"),
    "!density": (HEAD, f'{HEAD}<option density="1000"/>', "density of its <option>: give water= is not read"),
    "!viscosity": (HEAD, f'{HEAD}<option viscosity="1"/>', "viscosity of its <option> is not read"),
    "!flag": (HEAD, f'{HEAD}<option><flag spring="disable"/></option>', "its <option> switches off is not read"),
    "!flag on": (HEAD, f'{HEAD}<option><flag energy="enable"/></option>', "its <option> switches on is not read"),
    "!contact": (END, f'<contact><exclude body1="a" body2="b"/></contact>{END}', "exclusions of its <contact>"),
    "!contact pair": (END, f'<contact><pair geom1="p" geom2="q"/></contact>{END}', "pairs of its <contact>"),
    "-tendon": (END, f'<tendon><fixed><joint joint="j" coef="1"/></fixed></tendon>{END}', "tendons are not there"),
    "-equality": (END, f'<equality><connect body1="b" anchor="0 0 0"/></equality>{END}', "equality constraints"),
    "!actuator": (END, f'<actuator><motor joint="j"/></actuator>{END}', "<actuator>: give torques is not read"),
    "!sensor": (END, f'<sensor><jointpos joint="j"/></sensor>{END}', "<sensor> is not read"),
    "!keyframe": (END, f'<keyframe><key time="1"/></keyframe>{END}', "<keyframe> is not read"),
    "!plugin": (END, f"{PID}{END}", "<plugin>"),
    "!world": (END, f"{END}{BALL.format('r')}", "shapes that stand in the world are not read"),
    "!place": ('<body name="a">', '<body name="a" pos="0 0 1">', "the place of 'a' is not read"),
    "!gravcomp": (BODY, f'{BODY} gravcomp="1"', "body 'b': its gravcomp does not act"),
    "-mocap": (END, f'{END}<body mocap="true"/>', "moved from outside"),
    "-flexcomp": (END, f"{END}{CUBE}", "flexible bodies"),
    "!range": (JOINT, f'{JOINT} range="-10 10"', "joint 'j': its limits do not act"),
    "!armature": (JOINT, f'{JOINT} armature="0.1"', "joint 'j': its armature does not act"),
    "!frictionloss": (JOINT, f'{JOINT} frictionloss="0.1"', "joint 'j': its friction does not act"),
    "!actuatorfrcrange": (JOINT, f'{JOINT} actuatorfrcrange="-1 1"', "joint 'j': its actuatorfrcrange does not act"),
    "-springref": (JOINT, f'{JOINT} stiffness="1" springref="5"', "the spring of joint 'j' rests elsewhere"),
    "-stiffness": (JOINT, f'{JOINT} stiffness="1 2"', "stiffness of joint 'j' is not a single number|does not read it"),
    "-damping": (JOINT, f'{JOINT} damping="1 2"', "the damping of joint 'j' is not a single number|does not read it"),
    "!free": (FREE, '<joint type="free" damping="1"/>', "the free joint of 'a': its damping does not act"),
    "!fluidshape": (GEOM, f'{GEOM} fluidshape="ellipsoid"', "body 'b': its fluidshape does not act"),
    "!touch": (f'{GEOM} contype="0"', GEOM, "contacts of its shapes is not read"),
    "-hfield": (GEOM, 'name="q" type="plane" size="1 1 1" mass="1"', "a plane or a field of heights|does not read it"),
    "timestep": (HEAD, f'{HEAD}<option timestep="0.1" integrator="RK4" magnetic="1 0 0"/>', ""),
    "model": ("<mujoco>", '<mujoco model="x">', ""),
    "custom": (END, f'<custom><numeric name="x" data="1"/></custom><statistic extent="2"/><visual/>{END}', ""),
    "site": (TAIL, f'<site name="s"/><camera name="c"/><light/>{TAIL}', ""),
    "rgba": (GEOM, f'{GEOM} rgba="1 0 0 1" friction="2" group="3" margin="0.1"', ""),
    "solreflimit": (JOINT, f'{JOINT} solreflimit="0.1 1" group="2" margin="0.1"', ""),
}
CHANGED = {  # of what is read
    "pos": (BODY, 'pos="2 0 0"'),
    "quat": (BODY, f'{BODY} quat="1 1 0 0"'),
    "euler": (BODY, f'{BODY} euler="10 0 0"'),
    "axisangle": (BODY, f'{BODY} axisangle="1 0 0 10"'),
    "xyaxes": (BODY, f'{BODY} xyaxes="0 1 0 0 0 1"'),
    "zaxis": (BODY, f'{BODY} zaxis="1 0 0"'),
    "name": ('name="b"', 'name="c"'),
    "size": ("0.1", "0.2"),
    "childclass": (END, '<default><geom density="7"/></default><worldbody>'),
    "compiler": (END, f'<compiler angle="radian" settotalmass="3"/>{END}'),
    "inertial": (B, f'<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{B}'),
    "fullinertia": (B, f'<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0.1 0 0"/>{B}'),
    "type": (JOINT, 'type="ball"'),
    "axis": (JOINT, 'axis="1 0 0"'),
    "joint pos": (JOINT, f'{JOINT} pos="1 0 0"'),
    "stiffness": (JOINT, f'{JOINT} stiffness="1"'),
    "damping": (JOINT, f'{JOINT} damping="1"'),
    "springdamper": (JOINT, f'{JOINT} springdamper="1 1"'),
    "ref": (JOINT, f'{JOINT} range="-1 1" ref="1"'),
    "mass": (GEOM, f'{GEOM} mass="1"'),
    "geom density": (GEOM, f'{GEOM} density="1"'),
    "shellinertia": (GEOM, f'{GEOM} shellinertia="true"'),
    "fromto": (GEOM, f'{GEOM} type="capsule" fromto="0 0 0 1 0 0"'),
    "contype": (f'{GEOM} contype="0"', f'{GEOM} contype="1"'),
}


def of_mujoco(tmp_path, old, new):
    assert old in POOR_MJCF
    file = tmp_path / "robot.xml"
    file.write_text(POOR_MJCF.replace(old, new, 1))
    return mjcf_robot(file)


@pytest.mark.parametrize("name", CHANGES)
def test_what_mujoco_does_and_naiad_does_not_is_noted_or_refused(name, tmp_path):
    old, new, says = CHANGES[name]
    base = of_mujoco(tmp_path, "", "")
    assert base.notes == ()
    if name.startswith("-"):
        with pytest.raises(InputError, match=says):
            of_mujoco(tmp_path, old, new)
        return
    found = of_mujoco(tmp_path, old, new)
    if name.startswith("!"):
        assert any(says in note for note in found.notes)
    else:
        assert found == base


@pytest.mark.parametrize("name", CHANGED)
def test_what_of_mujoco_is_read_makes_another_robot(name, tmp_path):
    assert of_mujoco(tmp_path, *CHANGED[name]).links != of_mujoco(tmp_path, "", "").links


def schema_of_mujoco():
    """Attributes and children of the file's sections, and of what stands in a body."""
    import mujoco

    found, stack = {}, []
    line = re.compile(r"^( *)(\S+) \([!?*R]\)(.*(?:\n {24,}\S.*)*)", re.MULTILINE)
    for blanks, name, attributes in line.findall(mujoco.mj_printSchema(False, False)):
        stack = [*stack[: len(blanks) // 3], name]
        if stack[-2:-1] in ([], ["mujoco"], ["(world)body"]):
            found[name] = set(attributes.split())
        if stack[-2:-1] != [] and len(stack) < 4 and stack[-2] in found:
            found[stack[-2]].add(name)
    return found


def test_the_table_of_mjcf_has_all_that_mujoco_knows():
    """A word of a new version must be looked at, and get a mark."""
    schema = schema_of_mujoco()
    for element, words in MJCF.items():
        assert schema[element] <= {word.lstrip("~!-") for word in words.split()}, element
