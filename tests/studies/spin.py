"""A study for the tests: one run, and no figures."""

import naiad as nd
from naiad.studies.parameters import parameter
from naiad.studies.study import Findings, Study


class Spin(Study, name="spin"):
    """A body that turns."""

    t1: float = parameter(300.0, unit="s", above=0.0, help="duration")

    def run(self, progress):
        body = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
        start, watched = body.state(Pi=(0.7, 0.8, -1.5)), {"energy": body.energy}
        run = nd.simulate(body, start, t1=self.t1, dt=0.01, monitors=watched, progress=progress)
        results = {"Pi": run.final.mu, "energy": run.monitors["energy"].mean, "steps": run.statistics["steps"]}
        return Findings(results, lambda: run.dataset)
