"""`naiad swim FILE`: a robot from a file, in water."""

from pathlib import Path
from typing import Annotated

import typer

from naiad.cli.options import Json
from naiad.cli.running import Live, conduct
from naiad.errors import InputError

File = Annotated[Path, typer.Argument(metavar="FILE", help="A robot: .urdf, .sdf, or .xml of MuJoCo.")]
Water = Annotated[float, typer.Option("--water", help="Density of the water, in kg/m^3; 0 for none.")]
Wet = Annotated[str, typer.Option("--wet", help="Which shapes are in the water: collision or visual.")]
Gravity = Annotated[float, typer.Option("--gravity", help="Acceleration of gravity along -z, in m/s^2.")]
Torques = Annotated[str, typer.Option("--torques", help="What drives the joints: wave or none.")]
Amplitude = Annotated[float, typer.Option("--amplitude", help="Amplitude of the torques, in N m.")]
Frequency = Annotated[float, typer.Option("--frequency", help="Frequency of the wave, in Hz.")]
Wavelength = Annotated[float, typer.Option("--wavelength", help="Length of the wave, in bodies.")]
Duration = Annotated[float, typer.Option("--t1", help="Duration, in s.")]
Step = Annotated[float, typer.Option("--dt", help="Time step, in s.")]
Folder = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Where the files go (default: out/NAME of the file; with --json: none)."),
]


def swim(
    file: File,
    water: Water = 1025.0,
    wet: Wet = "collision",
    gravity: Gravity = 0.0,
    torques: Torques = "wave",
    amplitude: Amplitude = 0.2,
    frequency: Frequency = 0.5,
    wavelength: Wavelength = 6.0,
    t1: Duration = 20.0,
    dt: Step = 0.01,
    folder: Folder = None,
    as_json: Json = False,
    live: Live = False,
) -> None:
    """Let a robot from a file swim by torques in its joints, show what it does, and keep it.

    It is the study `swimming-robot`: the folder gets the figures, report.html, motion.html and result.zarr, and with
    --live the page live.html.
    """
    from naiad.studies.trees.swimming_robot import SwimmingRobot

    if not file.is_file():
        raise InputError(f"{file}: there is no such file.")
    if live and as_json and folder is None:
        raise InputError("--live is given with --json alone, which writes no files; give --out DIR too")
    study = SwimmingRobot(
        file=str(file),
        water=water,
        wet=wet,
        gravity=gravity,
        torques=torques,
        amplitude=amplitude,
        frequency=frequency,
        wavelength=wavelength,
        t1=t1,
        dt=dt,
    )
    conduct(study, Path("out") / file.stem if folder is None and not as_json else folder, as_json, live)
