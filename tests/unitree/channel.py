"""Topics and services as a program of Unitree's Python SDK makes them: with the same configuration
of CycloneDDS, quality of service, waits and order of calls."""
import json
import threading
import time

from cyclonedds.core import Listener
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

from messages import Request, RequestHeader, RequestIdentity, RequestLease, RequestPolicy, Response

AUTO = ('<CycloneDDS><Domain Id="any"><General><Interfaces><NetworkInterface autodetermine="true" '
        'priority="default" multicast="default"/></Interfaces></General></Domain></CycloneDDS>')
NAMED = AUTO.replace('autodetermine="true"', 'name="{}"')


class Channels:
    def __init__(self, domain=0, interface=None):
        config = NAMED.format(interface) if interface else AUTO
        self.domain = Domain(domain, config)
        self.participant = DomainParticipant(domain)

    def publisher(self, name, kind):
        writer = Writer(self.participant, name, kind)
        time.sleep(0.2)
        return writer

    def subscribe(self, name, kind, handler):
        def take(reader):
            for sample in reader.take(1):
                if isinstance(sample, kind):
                    handler(sample)
        return DataReader(self.participant, Topic(self.participant, name, kind), None,
                          Listener(on_data_available=take))


class Writer:
    def __init__(self, participant, name, kind):
        self.matched = 0
        listener = Listener(on_publication_matched=self._count)
        self.writer = DataWriter(participant, Topic(participant, name, kind), None, listener)

    def _count(self, _writer, status):
        self.matched = status.current_count

    def write(self, sample, timeout=0.0):
        while timeout > 0 and self.matched == 0:
            time.sleep(0.1)
            timeout -= 0.1
        self.writer.write(sample)


class Client:
    def __init__(self, channels, service, timeout=5.0):
        self.timeout, self.answers, self.arrived = timeout, {}, threading.Condition()
        self.requests = channels.publisher(f"rt/api/{service}/request", Request)
        self.reader = channels.subscribe(f"rt/api/{service}/response", Response, self._take)
        time.sleep(0.5)

    def _take(self, response):
        with self.arrived:
            self.answers[response.header.identity.id] = response
            self.arrived.notify_all()

    def call(self, api, parameter="{}", noreply=False):
        """Code and data of the answer; 3104 and None without one."""
        number = time.monotonic_ns()
        header = RequestHeader(RequestIdentity(number, api), RequestLease(0),
                               RequestPolicy(0, noreply))
        self.requests.write(Request(header, parameter, []), self.timeout)
        if noreply:
            return 0, None
        with self.arrived:
            if not self.arrived.wait_for(lambda: number in self.answers, self.timeout):
                return 3104, None
            answer = self.answers.pop(number)
        assert answer.header.identity.api_id == api
        return answer.header.status.code, answer.data


def release(switcher, sport=None):
    """What every low-level example does first: no mode of motion may be active."""
    code, data = switcher.call(1001)
    assert code == 0, code
    while json.loads(data)["name"]:
        if sport:
            sport.call(1005)
        switcher.call(1003)
        code, data = switcher.call(1001)
        time.sleep(1)
