"""Every element and attribute of the three formats of robot files, and what becomes of it.

Of each element its children and its attributes (with @): URDF 1.2 (urdfdom), SDF 1.4 to 1.12 (sdformat), MJCF as the
schema of MuJoCo has it. What has no mark is read, so that the robot is another one without it. `~`: it has no effect on
a motion. `!`: a note says that it is not read. `-`: it is refused. What is below an element with a mark goes with it.
"""

URDF = {
    "robot": "@name ~@version link joint ~material !transmission !gazebo !sensor",
    "link": "@name inertial visual collision",
    "inertial": "origin mass inertia",
    "origin": "@xyz @rpy -@quat_xyzw",
    "mass": "@value",
    "inertia": "@ixx @ixy @ixz @iyy @iyz @izz",
    "visual": "~@name origin geometry ~material",
    "collision": "~@name origin geometry",
    "geometry": "box cylinder capsule sphere mesh -ellipsoid",
    "box": "@size",
    "cylinder": "@radius @length",
    "capsule": "@radius @length",
    "sphere": "@radius",
    "mesh": "@filename @scale",
    "joint": "@name @type origin parent child axis !calibration dynamics limit -mimic !safety_controller",
    "parent": "@link",
    "child": "@link",
    "axis": "@xyz",
    "dynamics": "@damping @friction @spring_stiffness @spring_reference",
    "limit": "@lower @upper @effort @velocity !@acceleration !@deceleration !@jerk",
}

SDF = {
    "sdf": "@version world -model !actor ~light",
    "world": "~@name !audio !wind -include !gravity !magnetic_field !atmosphere ~gui !physics ~scene ~light !frame "
    "model !actor !plugin -joint !road !spherical_coordinates !state -population",
    "model": "@name ~@canonical_link !@placement_frame -static !self_collide !allow_auto_disable -include -model "
    "!enable_wind !frame pose link joint !plugin !gripper",
    "link": "@name !gravity !enable_wind !self_collide !kinematic !must_be_base_link !velocity_decay pose inertial "
    "collision visual !sensor ~projector ~audio_sink ~audio_source !battery ~light !particle_emitter",
    "inertial": "@auto !auto_inertia_params mass !density pose inertia fluid_added_mass",
    "inertia": "ixx ixy ixz iyy iyz izz",
    "fluid_added_mass": "xx xy xz xp xq xr yy yz yp yq yr zz zp zq zr pp pq pr qq qr rr",
    "pose": "@relative_to @rotation_format @degrees @frame",
    "collision": "~@name !laser_retro !max_contacts pose !density !auto_inertia_params geometry !surface",
    "visual": "~@name ~cast_shadows ~laser_retro ~transparency ~visibility_flags pose ~meta ~material geometry ~plugin",
    "geometry": "-empty box capsule -cone cylinder ellipsoid -heightmap -image mesh -plane -polyline sphere",
    "box": "size",
    "capsule": "radius length",
    "cylinder": "radius length",
    "ellipsoid": "radii",
    "mesh": "uri scale -submesh !@optimization !convex_decomposition",
    "sphere": "radius",
    "joint": "@name @type parent child pose !gearbox_ratio !gearbox_reference_body !thread_pitch !screw_thread_pitch "
    "axis -axis2 !physics !sensor",
    "axis": "!initial_position xyz use_parent_model_frame -mimic dynamics limit",
    "xyz": "@expressed_in",
    "dynamics": "damping friction spring_reference spring_stiffness",
    "limit": "lower upper effort velocity !stiffness !dissipation",
}

_FRAME = "pos quat axisangle euler xyaxes zaxis"
_TOUCH = "~adhesion ~condim ~friction ~gap ~margin ~priority ~solimp ~solmix ~solref ~surfacevel"  # told as contacts
MJCF = {
    "mujoco": "~model compiler option ~size ~statistic ~visual default !extension asset -deformable !contact -tendon "
    "-equality !actuator !sensor ~custom !keyframe (world)body",
    "option": "!gravity !wind !density !viscosity !flag ~actuatorgroupdisable ~ccd_iterations ~ccd_tolerance ~cone "
    "~impratio ~integrator ~iterations ~jacobian ~ls_iterations ~ls_tolerance ~magnetic ~noslip_iterations "
    "~noslip_tolerance ~o_friction ~o_margin ~o_solimp ~o_solref ~sdf_initpoints ~sdf_iterations ~sleep_tolerance "
    "~solver ~timestep ~tolerance",
    "(world)body": f"name childclass {_FRAME} !gravcomp -mocap ~fuse ~simple ~sleep ~user inertial joint freejoint "
    "geom attach ~site ~camera ~light !plugin -flexcomp",
    "inertial": f"{_FRAME} mass diaginertia fullinertia",
    "joint": "name class type pos axis stiffness damping springdamper ref !range !limited !armature !frictionloss "
    "!actuatorfrcrange !actuatorfrclimited -springref !springyield ~actuatorgravcomp ~group ~margin ~solreflimit "
    "~solimplimit ~solreffriction ~solimpfriction ~user",
    "freejoint": "name ~align ~group",
    "geom": f"name class type size fromto {_FRAME} density mass shellinertia mesh fitscale -hfield contype conaffinity "
    f"!fluidshape ~fluidcoef {_TOUCH} ~castshadow ~group ~material ~rgba ~user !plugin",
}
"""What is read is what MuJoCo's compiler makes of it. Attributes and children are not told apart, as in its schema."""
