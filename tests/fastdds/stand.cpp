// A program on Fast DDS, with ROS 2's names and types but without ROS: it holds the robot of a daemon
// with ros2.mode = "dds" where it stands, and calls a service. Types are written by hand.
//
//     c++ -std=c++17 stand.cpp -o stand -lfastrtps -lfastcdr && ./stand [DOMAIN]
//
// It prints "Done!" at its end, or what failed, with exit code 1.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>

using namespace eprosima::fastdds::dds;
using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SampleIdentity;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using eprosima::fastrtps::rtps::WriteParams;
using Clock = std::chrono::steady_clock;

// Room for one message, bytes.
constexpr uint32_t ROOM = 16384;

struct JointState {
  int32_t sec = 0;
  uint32_t nanosec = 0;
  std::string frame;
  std::vector<std::string> name;
  std::vector<double> position, velocity, effort;

  void write(Cdr& cdr) const { cdr << sec << nanosec << frame << name << position << velocity << effort; }
  void read(Cdr& cdr) { cdr >> sec >> nanosec >> frame >> name >> position >> velocity >> effort; }
  double time() const { return sec + 1e-9 * nanosec; }
};

struct SetBoolRequest {
  bool data = false;

  void write(Cdr& cdr) const { cdr << data; }
  void read(Cdr& cdr) { cdr >> data; }
};

struct SetBoolResponse {
  bool success = false;
  std::string message;

  void write(Cdr& cdr) const { cdr << success << message; }
  void read(Cdr& cdr) { cdr >> success >> message; }
};

// A type of messages, for the middleware.
template <class T>
struct Type : TopicDataType {
  explicit Type(const char* name) {
    setName(name);
    m_typeSize = ROOM;
    m_isGetKeyDefined = false;
    auto_fill_type_object(false);
    auto_fill_type_information(false);
  }
  bool serialize(void* data, SerializedPayload_t* payload) override {
    FastBuffer buffer(reinterpret_cast<char*>(payload->data), payload->max_size);
    Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
    payload->encapsulation = cdr.endianness() == Cdr::BIG_ENDIANNESS ? CDR_BE : CDR_LE;
    cdr.serialize_encapsulation();
    static_cast<T*>(data)->write(cdr);
    payload->length = static_cast<uint32_t>(cdr.getSerializedDataLength());
    return true;
  }
  bool deserialize(SerializedPayload_t* payload, void* data) override {
    FastBuffer buffer(reinterpret_cast<char*>(payload->data), payload->length);
    Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
    cdr.read_encapsulation();
    static_cast<T*>(data)->read(cdr);
    return true;
  }
  std::function<uint32_t()> getSerializedSizeProvider(void*) override { return [] { return ROOM; }; }
  void* createData() override { return new T; }
  void deleteData(void* data) override { delete static_cast<T*>(data); }
  bool getKey(void*, InstanceHandle_t*, bool) override { return false; }
};

[[noreturn]] void fail(const std::string& why) {
  std::printf("failed: %s\n", why.c_str());
  std::exit(1);
}

void check(bool holds, const std::string& what) {
  if (!holds) fail(what);
}

struct Peer {
  DomainParticipant* participant;
  Publisher* publisher;
  Subscriber* subscriber;

  explicit Peer(int domain) {
    participant = DomainParticipantFactory::get_instance()->create_participant(domain, PARTICIPANT_QOS_DEFAULT);
    check(participant, "no participant");
    publisher = participant->create_publisher(PUBLISHER_QOS_DEFAULT);
    subscriber = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
  }

  template <class T>
  Topic* topic(const char* name, const char* type) {
    TypeSupport support(new Type<T>(type));
    support.register_type(participant);
    return participant->create_topic(name, type, TOPIC_QOS_DEFAULT);
  }

  template <class T>
  DataWriter* writer(const char* name, const char* type) {
    DataWriterQos qos = DATAWRITER_QOS_DEFAULT;
    qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
    qos.history().depth = 10;
    DataWriter* made = publisher->create_datawriter(topic<T>(name, type), qos);
    check(made, std::string("no writer of ") + name);
    return made;
  }

  template <class T>
  DataReader* reader(const char* name, const char* type) {
    DataReaderQos qos = DATAREADER_QOS_DEFAULT;
    qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
    qos.history().depth = 10;
    DataReader* made = subscriber->create_datareader(topic<T>(name, type), qos);
    check(made, std::string("no reader of ") + name);
    return made;
  }
};

// The next message within so many seconds.
template <class T>
bool next(DataReader* reader, double within_s, T& message, SampleInfo& info) {
  const auto end = Clock::now() + std::chrono::duration<double>(within_s);
  while (Clock::now() < end) {
    if (!reader->wait_for_unread_message(eprosima::fastrtps::Duration_t(0.05))) continue;
    if (reader->take_next_sample(&message, &info) == ReturnCode_t::RETCODE_OK && info.valid_data) return true;
  }
  return false;
}

void wait_for_match(DataWriter* writer, const char* name) {
  for (int i = 0; i < 200; ++i) {
    PublicationMatchedStatus status;
    writer->get_publication_matched_status(status);
    if (status.current_count > 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  fail(std::string("nobody reads ") + name);
}

// Calls std_srvs/SetBool as rmw_fastrtps does: the answer names the request it belongs to.
void call(DataWriter* requests, DataReader* replies, bool data) {
  SetBoolRequest request;
  request.data = data;
  WriteParams params;
  check(requests->write(&request, params), "the request could not be written");
  const SampleIdentity asked = params.sample_identity();
  SetBoolResponse answer;
  SampleInfo info;
  check(next(replies, 10, answer, info), "no answer");
  check(info.related_sample_identity == asked, "the answer is another request's");
  check(answer.success, "refused: " + answer.message);
}

// Answers each state with where the robot began, for so many seconds of simulated time.
JointState hold(DataReader* states, DataWriter* commands, double seconds, JointState command, double begin) {
  JointState state;
  SampleInfo info;
  do {
    check(next(states, 10, state, info), "no further state");
    command.sec = state.sec;
    command.nanosec = state.nanosec;
    check(commands->write(&command), "a command could not be written");
  } while (state.time() < begin + seconds);
  return state;
}

// The newest state after so many seconds of wall time.
JointState newest(DataReader* states, double seconds, JointState state) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  SampleInfo info;
  while (Clock::now() < end) next(states, 0.1, state, info);
  return state;
}

int main(int argc, char** argv) {
  Peer peer(argc > 1 ? std::atoi(argv[1]) : 0);
  const char* joint_state = "sensor_msgs::msg::dds_::JointState_";
  DataReader* states = peer.reader<JointState>("rt/joint_states", joint_state);
  DataWriter* commands = peer.writer<JointState>("rt/joint_commands", joint_state);
  DataReader* replies =
      peer.reader<SetBoolResponse>("rr/hardstand/pauseReply", "std_srvs::srv::dds_::SetBool_Response_");
  DataWriter* requests =
      peer.writer<SetBoolRequest>("rq/hardstand/pauseRequest", "std_srvs::srv::dds_::SetBool_Request_");

  JointState first;
  SampleInfo info;
  check(next(states, 20, first, info), "no state: the daemon was not found");
  check(first.name.size() == 12 && first.position.size() == 12, "these are not the states of twelve joints");
  wait_for_match(commands, "rt/joint_commands");
  wait_for_match(requests, "rq/hardstand/pauseRequest");

  JointState command;
  command.name = first.name;
  command.position = first.position;
  JointState last = hold(states, commands, 2, command, first.time());
  double far = 0;
  for (size_t i = 0; i < 12; ++i) far = std::max(far, std::fabs(last.position[i] - first.position[i]));
  std::printf("held for %.2f s, at most %.3f rad away\n", last.time() - first.time(), far);
  check(far < 0.3, "the joints are not held");

  call(requests, replies, true);
  const double paused = newest(states, 0.5, last).time();
  check(newest(states, 0.5, last).time() == paused, "it is not paused");
  call(requests, replies, false);
  last = hold(states, commands, 1, command, last.time());
  std::printf("paused and went on; %.2f s\n", last.time());
  std::puts("Done!");
}
