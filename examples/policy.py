"""Runs a policy that others trained, by its contract file:

    python examples/policy.py CONTRACT.toml --policy walk.onnx --join legs --vx 0.5

The same as `python -m hardstand.policy`: the contract is checked against the robot before the first
step, and each clause that does not hold is named. docs/python.md says what a contract contains. To
build your own loop, call what `main` calls: `contract.load`, `network.load`, `connect`, `of_robot`
and `run`.
"""

import sys

from hardstand.policy import main

sys.exit(main())
