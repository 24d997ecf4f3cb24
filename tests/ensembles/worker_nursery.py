"""Workers of a Dask scheduler that are killed at random moments and replaced: forked from a process that has imported
all, so that a new one is there in no time.

    python worker_nursery.py ADDRESS JOB WORKERS KILLS SECONDS SEED

does a pickled job once, and then kills one after less than so many seconds, again and again, says so in a line each,
and leaves the others alone until its input ends.
"""

import asyncio
import os
import pickle
import random
import select
import signal
import sys
import traceback
from pathlib import Path

import distributed

from naiad.ensembles.cluster import do_block


def born(address: str) -> int:
    child = os.fork()
    if child:
        return child
    try:
        asyncio.run(working(address))
    except BaseException:
        traceback.print_exc()
    os._exit(0)


async def working(address: str) -> None:
    async with distributed.Worker(address, nthreads=1, dashboard_address=None) as worker:
        await worker.finished()


def ended(seconds: float) -> bool:
    """Whether the input ends before so many seconds have passed."""
    return bool(select.select([sys.stdin], [], [], seconds)[0])


def main(address: str, job: str, workers: int, kills: int, seconds: float, seed: int) -> None:
    with Path(job).open("rb") as file:
        do_block(None, 1, 0, pickle.load(file), None)
    rng = random.Random(seed)
    alive = [born(address) for _ in range(workers)]
    try:
        while kills and not ended(rng.uniform(0.0, seconds)):
            victim = alive.pop(rng.randrange(len(alive)))
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
            alive.append(born(address))
            kills -= 1
            print("killed", flush=True)
        sys.stdin.read()
    finally:
        for child in alive:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:5]), float(sys.argv[5]), int(sys.argv[6]))
