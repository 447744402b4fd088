"""A ROS 2 node without ROS: PyPI `cyclonedds`, and `ros_discovery_info` as rmw writes it.

  node.py NAME graph                                 prints the graph whenever it changes
  node.py NAME hear TOPIC TYPE QOS COUNT ...         prints messages, a JSON object a line
  node.py NAME publish TOPIC TYPE QOS HZ COUNT JSON  COUNT 0: for ever; a JSON list is published item by item
  node.py NAME answer TOPIC TYPE QOS JSON            a message for every joint state, with its stamp
  node.py NAME call SERVICE TYPE JSON ...            calls services one after the other, prints the answers
  node.py NAME bare TOPIC TYPE QOS JSON              publishes 20 times a second, and announces no node of ROS

QOS is reliable, best_effort or latched. The domain is in ROS_DOMAIN_ID, the network in CYCLONEDDS_URI.
"""

import gc
import json
import os
import random
import sys
import time

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication, BuiltinTopicDcpsSubscription
from cyclonedds.core import InstanceState, Policy, Qos, ReadCondition, SampleState, ViewState, WaitSet
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from ros_types import TYPES, message, plain

WORDS = {
    "reliable": (Policy.Reliability.Reliable(duration(milliseconds=100)), Policy.Durability.Volatile, 10),
    "best_effort": (Policy.Reliability.BestEffort, Policy.Durability.Volatile, 10),
    "latched": (Policy.Reliability.Reliable(duration(milliseconds=100)), Policy.Durability.TransientLocal, 1),
}
DISCOVERY = ("ros_discovery_info", TYPES["rmw_dds_common/ParticipantEntitiesInfo"])


def qos(word):
    reliability, durability, depth = WORDS[word]
    return Qos(reliability, durability, Policy.History.KeepLast(depth))


def gid(entity):
    return message("rmw_dds_common/Gid", {"data": list(entity.get_guid().bytes)})


def tell(**fields):
    print(json.dumps(fields), flush=True)


DOMAIN = int(os.environ.get("ROS_DOMAIN_ID", "0"))


class Node:
    def __init__(self, name):
        self.participant = DomainParticipant(DOMAIN, qos=Qos(Policy.Userdata(b"enclave=/;")))
        self.name, self.readers, self.writers = name, [], []
        self.discovery_topic = Topic(self.participant, *DISCOVERY)
        self.discovery = DataWriter(self.participant, self.discovery_topic, qos=qos("latched"))

    def _topic(self, topic, kind):
        return Topic(self.participant, f"rt/{topic}", TYPES[kind])

    def subscribe(self, topic, kind, word):
        self.readers.append(DataReader(self.participant, self._topic(topic, kind), qos=qos(word)))
        self.announce()
        return self.readers[-1]

    def publisher(self, topic, kind, word):
        self.writers.append(DataWriter(self.participant, self._topic(topic, kind), qos=qos(word)))
        self.announce()
        return self.writers[-1]

    def client(self, service, kind):
        ends = [("rq", "Request", "Request"), ("rr", "Reply", "Response")]
        topics = [
            Topic(self.participant, f"{prefix}/{service}{suffix}", TYPES[f"{kind}_{part}"]) for prefix, suffix, part in ends
        ]
        self.writers.append(DataWriter(self.participant, topics[0], qos=qos("reliable")))
        self.readers.append(DataReader(self.participant, topics[1], qos=qos("reliable")))
        self.announce()
        return self.writers[-1], self.readers[-1]

    def announce(self):
        info = message("rmw_dds_common/ParticipantEntitiesInfo", None)
        node = message("rmw_dds_common/NodeEntitiesInfo", {"node_namespace": "/", "node_name": self.name})
        info.gid = gid(self.participant)
        node.reader_gid_seq = [gid(r) for r in self.readers]
        node.writer_gid_seq = [gid(w) for w in self.writers]
        info.node_entities_info_seq = [node]
        self.discovery.write(info)

    def wait_for(self, reader):
        """Waits until the reader has something, or for a moment."""
        waiting = WaitSet(self.participant)
        waiting.attach(ReadCondition(reader, ViewState.Any | SampleState.NotRead | InstanceState.Any))
        return lambda: waiting.wait(duration(milliseconds=100))


def valid(samples):
    return [s for s in samples if s.sample_info.valid_data]


def graph(node):
    """Which node has which end of which topic, as `ros2 topic info -v` finds it."""
    infos = DataReader(node.participant, node.discovery_topic, qos=qos("latched"))
    ends = [
        ("publisher", BuiltinDataReader(node.participant, BuiltinTopicDcpsPublication)),
        ("subscription", BuiltinDataReader(node.participant, BuiltinTopicDcpsSubscription)),
    ]
    nodes, found, told = {}, {}, None
    while True:
        for info in valid(infos.take(100)):
            for entry in info.node_entities_info_seq:
                for end in entry.reader_gid_seq + entry.writer_gid_seq:
                    nodes[bytes(end.data)] = entry.node_namespace.rstrip("/") + "/" + entry.node_name
        for kind, reader in ends:
            for sample in reader.take(100):
                key = sample.key.bytes
                if sample.sample_info.instance_state == InstanceState.Alive:
                    found[key] = (kind, sample.topic_name, sample.type_name, sample.qos)
                else:
                    found.pop(key, None)
        listed = []
        for key, (kind, topic, type_name, policies) in found.items():
            if topic.startswith(("rt/", "rq/", "rr/")):
                user = policies[Policy.Userdata].data if Policy.Userdata in policies else b""
                listed.append(
                    {
                        "node": nodes.get(key, ""),
                        "end": kind,
                        # services keep their prefix
                        "topic": topic[2:] if topic.startswith("rt/") else topic,
                        "type": type_name,
                        "reliable": policies[Policy.Reliability] != Policy.Reliability.BestEffort,
                        "latched": policies[Policy.Durability] == Policy.Durability.TransientLocal,
                        "depth": getattr(policies[Policy.History], "depth", 0),
                        "user_data": user.decode(),
                    }
                )
        listed.sort(key=json.dumps)
        if listed != told:
            told = listed
            tell(graph=listed)
        time.sleep(0.1)


def hear(node, words):
    topics = [words[i : i + 4] for i in range(0, len(words), 4)]
    readers = [(topic, node.subscribe(topic, kind, word), int(n)) for topic, kind, word, n in topics]
    left = {topic: n for topic, _, n in readers}
    while True:
        for topic, reader, _ in readers:
            for sample in valid(reader.take(100)):
                if left[topic] > 0:
                    left[topic] -= 1
                    tell(topic=topic, message=plain(sample))
        time.sleep(0.002)


def publish(node, topic, kind, word, hz, count, text):
    values = json.loads(text)
    items = [message(kind, v) for v in (values if isinstance(values, list) else [values])]
    writer = node.publisher(topic, kind, word)
    begin = time.monotonic()
    # a publisher must have met the bridge's subscription before what it says can arrive
    while not writer.get_matched_subscriptions() and time.monotonic() - begin < 20:
        time.sleep(0.01)
    tell(matched=len(writer.get_matched_subscriptions()))
    # and the subscription it: until then, what is best effort is lost
    time.sleep(0.5)
    sent, next_at = 0, time.monotonic()
    while int(count) == 0 or sent < int(count):
        writer.write(items[min(sent, len(items) - 1)])
        sent += 1
        next_at += 1 / float(hz)
        time.sleep(max(0.0, next_at - time.monotonic()))
    tell(sent=sent)
    # what is on its way shall arrive
    time.sleep(0.5)


def answer(node, topic, kind, word, text):
    command = message(kind, json.loads(text))
    states = node.subscribe("joint_states", "sensor_msgs/JointState", "best_effort")
    writer = node.publisher(topic, kind, word)
    wait = node.wait_for(states)
    while True:
        wait()
        samples = valid(states.take(100))
        if samples:
            command.header.stamp = samples[-1].header.stamp
            writer.write(command)


def call(node, words):
    client = random.getrandbits(64)
    for number in range(len(words) // 3):
        service, kind, text = words[3 * number : 3 * number + 3]
        writer, reader = node.client(service, kind)
        begin = time.monotonic()
        while not (writer.get_matched_subscriptions() and reader.get_matched_publications()):
            if time.monotonic() - begin > 20:
                sys.exit(f"nobody serves {service}")
            time.sleep(0.01)
        # both have met the service; it has not met them yet
        time.sleep(0.5)
        writer.write(message(f"{kind}_Request", {"client": client, "number": number, **json.loads(text)}))
        begin, answers = time.monotonic(), []
        while not answers and time.monotonic() - begin < 20:
            answers = [a for a in valid(reader.take(100)) if (a.client, a.number) == (client, number)]
            time.sleep(0.002)
        if not answers:
            sys.exit(f"{service} does not answer")
        tell(answer=plain(answers[0]))
    # nor shall what comes of it twice be missed
    time.sleep(0.5)


def bare(topic, kind, word, text):
    """A program on DDS alone, as a robot is."""
    participant = DomainParticipant(DOMAIN)
    writer = DataWriter(participant, Topic(participant, f"rt/{topic}", TYPES[kind]), qos=qos(word))
    while True:
        writer.write(message(kind, json.loads(text)))
        time.sleep(0.05)


if __name__ == "__main__":
    name, verb, *words = sys.argv[1:]
    node = None if verb == "bare" else Node(name)
    match verb:
        case "graph":
            graph(node)
        case "hear":
            hear(node, words)
        case "publish":
            publish(node, *words)
        case "answer":
            answer(node, *words)
        case "call":
            call(node, words)
        case "bare":
            bare(*words)
        case other:
            sys.exit(f"what is {other}?")
    # entities are deleted with their last reference: others learn at once that it has gone
    del node
    gc.collect()
