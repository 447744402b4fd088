"""A ROS 2 client of CycloneDDS, without ROS: calls `hardstand/pause` with the identity before the request."""
import time
from dataclasses import dataclass

from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct, types as t
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


@dataclass
class Request(IdlStruct, typename="std_srvs::srv::dds_::SetBool_Request_"):
    guid: t.uint64
    sequence: t.int64
    data: bool


@dataclass
class Response(IdlStruct, typename="std_srvs::srv::dds_::SetBool_Response_"):
    guid: t.uint64
    sequence: t.int64
    success: bool
    message: str


participant = DomainParticipant(0)
qos = Qos(Policy.Reliability.Reliable(duration(milliseconds=100)), Policy.History.KeepLast(10))
writer = DataWriter(participant, Topic(participant, "rq/hardstand/pauseRequest", Request), qos)
reader = DataReader(participant, Topic(participant, "rr/hardstand/pauseReply", Response), qos)
time.sleep(2)
for sequence, pause in [(1, True), (2, False)]:
    writer.write(Request(0x1122334455667788, sequence, pause))
    answer = reader.take_one(timeout=duration(seconds=5))
    print(answer)
    assert (answer.guid, answer.sequence, answer.success) == (0x1122334455667788, sequence, True)
print("Done!")
