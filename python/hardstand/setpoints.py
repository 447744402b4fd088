"""Set-points of joints, written straight into the bytes of a command."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from . import wire
from .errors import Refused
from .model import Model

#: A number for all joints, or one for each.
Values = float | npt.ArrayLike

_FIELDS = ("q", "dq", "kp", "kd", "tau")
_LARGEST = 1e6
_HEAD = struct.Struct("<4sQI5Q")


class Command:
    """The message of a command for the joints at `index` of the model, in the caller's order."""

    def __init__(self, model: Model, index: npt.NDArray[np.intp]) -> None:
        self.model = model
        self.index = index
        n = len(index)
        self._buffer = bytearray(_HEAD.size + 40 * n)
        self._points = np.frombuffer(self._buffer, "<f8", 5 * n, _HEAD.size).reshape(n, 5)
        # commands are in the model's order, whatever the caller's is
        order = np.argsort(index)
        self._order = None if np.array_equal(order, np.arange(n)) else order
        self._least = np.array([-_LARGEST, -_LARGEST, 0.0, 0.0, -_LARGEST])
        self._most = np.array([_LARGEST, _LARGEST, model.kp_max, model.kd_max, _LARGEST])

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints, in the caller's order."""
        return tuple(self.model.joints[i] for i in self.index)

    def fill(self, *values: Values | None) -> None:
        """Takes q, dq, kp, kd and tau; None is 0. Raises `Refused` with the joint, the value and
        its range."""
        if values[0] is None and values[2] is not None:
            raise Refused("kp without q would pull all joints to 0: give q too")
        for column, (name, value) in enumerate(zip(_FIELDS, values, strict=True)):
            self._points[:, column] = 0.0 if value is None else self._in_order(name, value)
        if not ((self._points >= self._least) & (self._points <= self._most)).all():
            raise Refused(self._mistake())

    def _in_order(self, name: str, value: Values) -> npt.NDArray[np.float64] | float:
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise Refused(f"{name} is {value!r}; it must be a number, or one for each joint") from None
        if array.ndim == 0:
            return float(array)
        if array.shape != (len(self.index),):
            raise Refused(
                f"{name} has the shape {array.shape}; it must be a number, or one for each of the "
                f"{len(self.index)} joints {', '.join(self.joints)}"
            )
        return array if self._order is None else array[self._order]

    def _mistake(self) -> str:
        good = (self._points >= self._least) & (self._points <= self._most)
        row, column = np.argwhere(~good)[0]
        joint = self.model.joints[np.sort(self.index)[row]]
        return (
            f"{_FIELDS[column]} of {joint} is {self._points[row, column]:g}; it must be "
            f"{self._least[column]:g} to {self._most[column]:g}"
        )

    def message(self, run_id: int, session: int, seq: int, tick: int, applies: int) -> bytes:
        """The message with the set-points last taken, as the answer to the state of `tick`."""
        head = (self.model.layout_hash, run_id, session, seq, tick, applies, len(self.index))
        _HEAD.pack_into(self._buffer, 0, wire.header(wire.COMMAND), *head)
        return bytes(self._buffer)
