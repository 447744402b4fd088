"""Makes the data of the tests: small networks with the outputs of onnxruntime, and contracts with
the observations and targets of the Python package `hardstand`.

    pip install numpy onnx onnxruntime hardstand-*.whl
    python make.py                      # the files in this folder
    python make.py --random 200 DIR     # as many random cases of both kinds into DIR
    HARDSTAND_POLICY_CASES=DIR cargo test -p hardstand-policy

Everything follows from the seed. README.md has the versions that made the stored files.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import clauses
import networks
import numpy as np
import observations

SEED = 20261123


def main() -> None:
    here = Path(__file__).parent
    if "--random" in sys.argv:
        count, folder = int(sys.argv[2]), Path(sys.argv[3])
        folder.mkdir(parents=True, exist_ok=True)
        for i in range(count):
            rng = np.random.default_rng([SEED, i])
            networks.save(folder, f"random{i}", networks.random(rng), rng)
            save(folder / f"random{i}.policy.json", observations.random(rng))
        return
    for name, make in networks.STORED.items():
        rng = np.random.default_rng([SEED, len(name), sum(name.encode())])
        networks.save(here, name, make(rng), rng)
    for i in range(3):
        rng = np.random.default_rng([SEED, 1000 + i])
        save(here / f"contract{i}.policy.json", observations.random(rng))
    save(here / "clauses.json", clauses.make())


def save(path: Path, case: dict) -> None:
    path.write_text(json.dumps(case, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
