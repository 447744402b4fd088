"""Holds twelve CiA 402 drives of the daemon with the open master SOEM (PyPI `pysoem`). Arguments: the
network interface, and seconds to hold. On standard output: what it found, and `lost N` once the drives
have left operation."""

import math
import struct
import sys
import time

try:
    import pysoem
except ImportError as error:
    print(f"SKIPPED: pip install pysoem ({error})")
    sys.exit(77)

COUNTS = (1 << 20) / math.tau
HOLD_RAD = (0.0, 0.8, -1.5)
# controlword, target position, target velocity, target torque, torque offset, mode, gap
OUTPUTS = struct.Struct("<HiihhbB")
# statusword, position, velocity, torque, error code, mode, gap
INPUTS = struct.Struct("<HiihHbB")
CSP = 8
OPERATION_ENABLED = 0x27
# shutdown, switch on, enable operation, by what the drive says
NEXT = {0x40: 0x06, 0x21: 0x07, 0x23: 0x0F, OPERATION_ENABLED: 0x0F}


def state_of(statusword):
    return statusword & (0x6F if statusword & 0x20 else 0x4F)


def cycle(master):
    master.send_processdata()
    return master.receive_processdata(2_000)


def all_in(master, state, name):
    master.state = state
    master.write_state()
    for _ in range(400):
        cycle(master)
        if master.state_check(state, 5_000) == state:
            return
    master.read_state()
    said = [(s.state, hex(s.al_status)) for s in master.slaves]
    raise SystemExit(f"the slaves are not in {name}: {said}")


def operate(master, start, seconds):
    """Cycles until the time is over or a drive has left operation. Cycles, and those without all
    answers."""
    begin, cycles, missed, enabled = time.monotonic(), 0, 0, None
    while (passed := time.monotonic() - begin) < seconds:
        share = 0.0 if enabled is None else min((passed - enabled) / 2.0, 1.0)
        inputs = [INPUTS.unpack(slave.input) for slave in master.slaves]
        states = [state_of(i[0]) for i in inputs]
        if enabled is None and set(states) == {OPERATION_ENABLED}:
            enabled = passed
        if enabled is not None and set(states) != {OPERATION_ENABLED}:
            break
        for n, (slave, state) in enumerate(zip(master.slaves, states)):
            q = start[n] + share * (HOLD_RAD[n % 3] - start[n])
            word = NEXT.get(state, 0x80)
            slave.output = OUTPUTS.pack(word, round(q * COUNTS), 0, 0, 0, CSP, 0)
        cycles += 1
        missed += cycle(master) != master.expected_wkc
        time.sleep(0.001)
    assert enabled is not None, [hex(i[0]) for i in inputs]
    return cycles, missed, inputs


master = pysoem.Master()
master.open(sys.argv[1])
assert master.config_init() == 12, len(master.slaves)
for n, slave in enumerate(master.slaves):
    assert slave.name == "CiA 402 drive" and (slave.man, slave.id) == (0, 402), slave.name
    assert struct.unpack("<I", slave.sdo_read(0x1000, 0))[0] == 0x20192
    assert struct.unpack("<I", slave.sdo_read(0x1018, 4))[0] == n + 1
    assert slave.sdo_read(0x1008, 0) == b"CiA 402 drive"
    slave.set_watchdog("processdata", 500)
try:
    master.slaves[0].sdo_read(0x2345, 0)
except pysoem.SdoError as error:
    assert error.abort_code == 0x06020000, hex(error.abort_code)
else:
    raise SystemExit("an object that is not there was read")
assert master.config_map() == 12 * (OUTPUTS.size + INPUTS.size), "size of the process data"
assert master.config_dc(), "no slave has a clock"
all_in(master, pysoem.SAFEOP_STATE, "SAFEOP")
cycle(master)
start = [INPUTS.unpack(slave.input)[1] / COUNTS for slave in master.slaves]
all_in(master, pysoem.OP_STATE, "OP")
print("found 12, in OP", flush=True)
cycles, missed, inputs = operate(master, start, float(sys.argv[2]))
left = [n for n, i in enumerate(inputs) if state_of(i[0]) != OPERATION_ENABLED]
if left:
    # what the slaves say of it, before the other watchdogs expire
    master.read_state()
    for n, slave in enumerate(master.slaves):
        print(f"{n} {slave.state} {slave.al_status:#x} {INPUTS.unpack(slave.input)[4]:#x}")
    print(f"lost {len(left)}")
    sys.exit(0)
for n, i in enumerate(inputs):
    q = i[1] / COUNTS
    assert abs(q - HOLD_RAD[n % 3]) < 0.3, f"drive {n}: {q} rad, not {HOLD_RAD[n % 3]}"
    assert i[5] == CSP, i
assert missed * 20 < cycles, f"{missed} of {cycles} cycles without all answers"
print(f"EtherCAT: ok, {cycles} cycles of 12 drives, {missed} incomplete")
