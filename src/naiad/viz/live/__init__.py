"""Live pages: an HTML file that holds the integrator itself, in WebAssembly, and shows the motion as it computes it."""

from naiad.viz.live.controls import Slider
from naiad.viz.live.page import live
from naiad.viz.live.sections import SectionPlot

__all__ = ["SectionPlot", "Slider", "live"]
