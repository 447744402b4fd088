// What programs on Fast DDS share here: types that say how they are written and read, and a participant.

#pragma once

#include <chrono>
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

template <class Qos>
Qos reliable(Qos qos) {
  qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
  qos.history().depth = 10;
  return qos;
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
    const auto qos = reliable(DATAWRITER_QOS_DEFAULT);
    DataWriter* made = publisher->create_datawriter(topic<T>(name, type), qos);
    check(made, std::string("no writer of ") + name);
    return made;
  }

  template <class T>
  DataReader* reader(const char* name, const char* type) {
    const auto qos = reliable(DATAREADER_QOS_DEFAULT);
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
