"""A server made with Foxglove's own SDK, to check that the page speaks its protocol.

It reads {"scene": …, "frames": […]} from a file, publishes the frames in a circle, and answers every
order with its request. `speed` raises an error.
"""

import json
import sys
import time

import foxglove
from foxglove.websocket import Capability, MessageSchema, Service, ServiceSchema

ORDERS = ["pause", "resume", "push", "speed"]

with open(sys.argv[1], encoding="utf-8") as file:
    data = json.load(file)


def schema(name):
    return foxglove.Schema(name=name, encoding="jsonschema", data=b'{"type": "object"}')


def answer(request):
    if request.service_name.endswith("speed"):
        raise ValueError("no such speed")
    given = json.loads(request.payload)
    return json.dumps({"ok": True, "text": f"{request.service_name} {json.dumps(given)}"}).encode()


services = [
    Service(
        name=f"/hardstand/{order}",
        schema=ServiceSchema(
            name=order,
            request=MessageSchema(encoding="json", schema=schema(f"{order}_request")),
            response=MessageSchema(encoding="json", schema=schema(f"{order}_answer")),
        ),
        handler=answer,
    )
    for order in ORDERS
]
server = foxglove.start_server(
    name="sdk",
    host="127.0.0.1",
    port=0,
    capabilities=[Capability.Services],
    supported_encodings=["json"],
    services=services,
)
channels = {
    name: foxglove.Channel(f"/hardstand/{name}", schema=schema(name), message_encoding="json")
    for name in ["scene", "frame"]
}
print(server.port, flush=True)
tick = 0
while True:
    if tick % 30 == 0:
        channels["scene"].log(json.dumps(data["scene"]).encode())
    channels["frame"].log(json.dumps(data["frames"][tick % len(data["frames"])]).encode())
    tick += 1
    time.sleep(1 / 60)
