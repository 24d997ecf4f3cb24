"""Films for talks: a motion as GIF by Pillow, or as MP4 by ffmpeg."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.errors import InputError, RunError
from naiad.viz.still import Still

if TYPE_CHECKING:
    from PIL.Image import Image

SIZES = {".gif": (640, 400), ".mp4": (1280, 720)}
FRAMES_A_SECOND = {".gif": 20, ".mp4": 30}
SHORTEST, LONGEST, USUAL = 4.0, 20.0, 12.0
"""Seconds: a motion that takes that long is shown as fast as it is, another in the usual time."""
COLOURS = 256


class Film:
    """A motion, as `describe_motion` describes it, in a number of images a second; checked before anything is drawn."""

    def __init__(
        self,
        motion: dict[str, Any],
        path: Path,
        *,
        title: str,
        size: tuple[int, int] | None,
        fps: int | None,
        seconds: float | None,
    ):
        kind = path.suffix.lower()
        self.kind, self.motion, self.title = kind, motion, title
        self.size = _even(size or SIZES[kind])
        self.fps = FRAMES_A_SECOND[kind] if fps is None else fps
        span = motion["time"][-1] - motion["time"][0]
        self.seconds = (span if SHORTEST <= span <= LONGEST else USUAL) if seconds is None else seconds
        if not (1 <= self.fps <= 120 and 0 < self.seconds <= 3600 and min(self.size) >= 64 and max(self.size) <= 4096):
            raise InputError(
                f"a film with size = {size}, fps = {self.fps}, seconds = {self.seconds:g}; expected a size of 64 to "
                "4096 pixels each way, 1 to 120 images a second, and up to 3600 seconds"
            )
        self.ffmpeg = shutil.which("ffmpeg") if kind == ".mp4" else None
        if kind == ".mp4" and self.ffmpeg is None:
            raise InputError(
                f"{path}: an mp4 is made by ffmpeg, which is not on the path; install it (Debian, Ubuntu: apt install "
                f"ffmpeg), or name the film {path.with_suffix('.gif')}"
            )

    def write(self, file: Path) -> None:
        """Draw every image, and write the film."""
        if self.kind == ".gif":
            from PIL.Image import Dither

            first, *others = [image.quantize(COLOURS, dither=Dither.NONE) for image in self._images()]
            duration = round(1000 / self.fps)
            first.save(file, "GIF", save_all=True, append_images=others, duration=duration, loop=0, optimize=False)
            return
        width, height = self.size
        raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(self.fps), "-i", "-"]
        made = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart", "-f", "mp4"]
        command = [str(self.ffmpeg), "-y", "-loglevel", "error", *raw, *made, str(file)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stderr is not None
            try:
                for image in self._images():
                    process.stdin.write(image.tobytes())
                process.stdin.close()
            except BrokenPipeError:
                pass  # what it says of it comes below
            said = process.stderr.read().decode(errors="replace").strip()
        if process.returncode:
            raise RunError(f"ffmpeg could not make the film: {said.splitlines()[-1] if said else 'it said nothing'}")

    def _images(self) -> "Iterator[Image]":
        still = Still(self.motion, self.size, self.title)
        times = self.motion["time"]
        for t in np.linspace(times[0], times[-1], max(1, round(self.fps * self.seconds))):
            yield still.at(float(t))


def _even(size: tuple[int, int]) -> tuple[int, int]:
    """Films have even sides."""
    return size[0] // 2 * 2, size[1] // 2 * 2
