"""Where to look from, so that a motion fills the view: across a long path, from above onto a flat one."""

from typing import NamedTuple

import numpy as np

DISTANCE = 7.0
"""Of the eye from the middle of the scene, in radii of the scene."""
USUAL_YAW, USUAL_PITCH, STEEP, LOW = -0.9, 0.38, 0.85, 0.24
_ASKEW = np.deg2rad(20.0)
"""How far a long path may run into the depth."""


class View(NamedTuple):
    """The direction of the eye, what it looks at, and half the width and height of what is seen, in metres there."""

    yaw: float
    pitch: float
    centre: np.ndarray
    span: np.ndarray


def fitting_view(points: np.ndarray, sizes: np.ndarray, radius: float, *, planar: bool = False) -> View:
    """The view in which balls of these sizes [point] about these points [point, 3] are all seen, as large as may be."""
    yaw, pitch = (-np.pi / 2, np.pi / 2) if planar else _direction(points, sizes)
    toward, right, up = screen_axes(yaw, pitch)
    centre = (points.min(0) + points.max(0)) / 2
    span = np.zeros(2)
    for _ in range(3):  # what is nearer is larger: the middle of the picture is not that of space
        local = points - centre
        near = DISTANCE * radius / np.maximum(DISTANCE * radius - local @ toward, 0.05 * radius)
        seen = np.stack([local @ right, local @ up], 1) * near[:, None]
        reach = (sizes * near)[:, None]
        low, high = (seen - reach).min(0), (seen + reach).max(0)
        centre = centre + 0.5 * (low + high) @ np.stack([right, up])
        span = 0.5 * (high - low)
    return View(yaw, pitch, centre, span)


def screen_axes(yaw: float, pitch: float) -> np.ndarray:
    """The directions towards the eye, to the right and upwards, in rows."""
    toward = np.array([np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)])
    right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    return np.stack([toward, right, np.cross(toward, right)])


def _direction(points: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """Yaw and pitch. The longest horizontal direction lies across the view; what is flat is seen from above, and what
    stays in an upright plane almost from the side."""
    ground = points[:, :2] - points[:, :2].mean(0)
    axis = np.linalg.svd(ground, full_matrices=False)[2][0] if len(points) > 1 else np.array([1.0, 0.0])
    across = np.array([-axis[1], axis[0]])
    body = 2.0 * sizes.max()
    length, width = (np.ptp(ground @ each) + body for each in (axis, across))
    height = np.ptp(points[:, 2]) + body
    usual = USUAL_YAW + np.pi / 2
    yaw = USUAL_YAW
    if length > 1.5 * width:
        angle = np.arctan2(axis[1], axis[0])
        angle = usual + np.remainder(angle - usual + np.pi / 2, np.pi) - np.pi / 2  # a direction has two ends
        yaw = angle + np.clip(usual - angle, -_ASKEW, _ASKEW) - np.pi / 2
    flat = np.clip((0.5 - height / width) / 0.35, 0.0, 1.0)
    upright = np.clip(0.5 * height / width - 0.5, 0.0, 1.0)
    return float(yaw), float(USUAL_PITCH + flat * (STEEP - USUAL_PITCH) + upright * (LOW - USUAL_PITCH))
