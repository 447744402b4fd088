"""Reads the parts of a log that need no replay: metadata, attachments, states, events.

A log is an MCAP file without compression (https://mcap.dev/spec); docs/protocol.md, The log.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .errors import HardstandError

_MAGIC = b"\x89MCAP0\r\n"
_CHANNEL, _MESSAGE, _CHUNK, _ATTACHMENT, _METADATA = 0x04, 0x05, 0x06, 0x09, 0x0C
_CHUNK_HEAD = 28  # start time, end time, size, CRC
_CDR_HEAD = 4


@dataclass
class Contents:
    """What one file holds. Messages are the CDR bodies by topic, with log_time, ns."""

    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    messages: dict[str, list[tuple[int, bytes]]] = field(default_factory=dict)
    complete: bool = False


def _text(data: memoryview, at: int) -> tuple[str, int]:
    (n,) = struct.unpack_from("<I", data, at)
    return bytes(data[at + 4:at + 4 + n]).decode(), at + 4 + n


def _records(data: memoryview, at: int) -> Iterator[tuple[int, memoryview]]:
    while at + 9 <= len(data):
        kind, n = struct.unpack_from("<BQ", data, at)
        if at + 9 + n > len(data):
            return
        yield kind, data[at + 9:at + 9 + n]
        at += 9 + n


def _map(data: memoryview, at: int) -> dict[str, str]:
    (n,) = struct.unpack_from("<I", data, at)
    end, at, out = at + 4 + n, at + 4, {}
    while at < end:
        key, at = _text(data, at)
        out[key], at = _text(data, at)
    return out


def _chunk(body: memoryview, path: Path) -> memoryview:
    compression, at = _text(body, _CHUNK_HEAD)
    if compression:
        raise HardstandError(
            f"log {path}: a chunk is compressed with {compression}; Hardstand writes none such",
            kind="log",
        )
    return body[at + 8:]


def _take(out: Contents, channels: dict[int, str], kind: int, body: memoryview) -> None:
    if kind == _CHANNEL:
        channels[struct.unpack_from("<H", body)[0]] = _text(body, 4)[0]
    elif kind == _MESSAGE:
        channel, _seq, time_ns = struct.unpack_from("<HIQ", body)
        if (topic := channels.get(channel)) in out.messages:
            out.messages[topic].append((time_ns, bytes(body[22:])))
    elif kind == _METADATA:
        name, at = _text(body, 0)
        out.metadata.setdefault(name, _map(body, at))
    elif kind == _ATTACHMENT:
        name, at = _text(body, 16)
        _media, at = _text(body, at)
        (n,) = struct.unpack_from("<Q", body, at)
        out.attachments[name] = bytes(body[at + 8:at + 8 + n])


def read(path: Path, topics: tuple[str, ...] = ()) -> Contents:
    """Metadata and attachments of a file, and the messages of `topics`."""
    try:
        data = memoryview(path.read_bytes())
    except OSError as e:
        raise HardstandError(f"log {path}: {e.strerror}", kind="file") from None
    if data[:8] != _MAGIC:
        raise HardstandError(f"log {path}: it is no MCAP file", kind="log")
    out = Contents(messages={topic: [] for topic in topics}, complete=data[-8:] == _MAGIC)
    channels: dict[int, str] = {}
    try:
        for kind, body in _records(data, 8):
            if kind == _CHUNK:
                for inner, record in _records(_chunk(body, path), 0):
                    _take(out, channels, inner, record)
            else:
                _take(out, channels, kind, body)
    except (UnicodeDecodeError, struct.error) as e:
        raise HardstandError(f"log {path}: it is damaged: {e}", kind="log") from None
    if "hardstand" not in out.metadata:
        raise HardstandError(
            f"log {path}: it has no metadata of Hardstand, so it is a file of another program",
            kind="log",
        )
    return out


def payload(body: bytes) -> bytes:
    """The bytes of a message of the types hardstand_msgs."""
    (n,) = struct.unpack_from("<I", body, _CDR_HEAD)
    return body[_CDR_HEAD + 4:_CDR_HEAD + 4 + n]


def string(body: bytes) -> str:
    """The text of a std_msgs/msg/String."""
    return payload(body).rstrip(b"\0").decode()
