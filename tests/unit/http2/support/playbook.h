// SPDX-License-Identifier: MIT
//
// A conversation with a connection: what the peer says goes in, what was told to the owner and what
// is said to the peer come out, both as lines of text.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "http2/connection.h"
#include "unit/http2/support/frames.h"

namespace titanium::http2::test {

using Log = std::vector<std::string>;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct TestStream final : Stream {
  explicit TestStream(ChunkPool& pool) : Stream(pool) {}
  http::RequestHead request;
  http::ResponseHead response;
  std::size_t unconsumed = 0;
  std::uint32_t number = 0;  // The id, also after the connection has forgotten it.
};

inline std::string text_of(const http::FieldList& fields) {
  std::string out;
  for (const http::Field& field : fields) {
    if (field.dropped) continue;
    out += " " + std::string(field.name) + "=" + std::string(field.value);
  }
  return out;
}

// Copies `text` into a slice of its own, exactly as long as the text, so that AddressSanitizer
// sees what is read beyond.
inline Slice slice_of(ChunkPool& pool, std::string_view text) {
  ChunkRef chunk(text.size() > ChunkPool::kChunkBytes ? pool.take_large(text.size()) : pool.take());
  std::memcpy(chunk->data(), text.data(), text.size());
  return {.chunk = std::move(chunk), .begin = 0, .end = static_cast<std::uint32_t>(text.size())};
}

class Playbook : public ConnectionHandler {
 public:
  using TimePoint = Connection::TimePoint;

  explicit Playbook(Role role, Options with = {})
      : options(with), connection(role, options, pool, *this, now) {}
  ~Playbook() {
    for (auto& stream : streams) connection.reset(stream, ErrorCode::cancel);
  }

  // Preface and SETTINGS of both sides are over.
  void greet() {
    const bool is_server = connection.received_settings() == false && is_server_;
    ASSERT_TRUE(hear(is_server ? std::string(kPreface) : std::string()).has_value());
    ASSERT_TRUE(hear(settings({})).has_value());
    (void)say();
    ASSERT_TRUE(hear(settings_ack()).has_value());
  }

  // The peer says this, in pieces of `piece` bytes.
  Result<> hear(std::string_view bytes, std::size_t piece = std::string_view::npos) {
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, piece);
      bytes.remove_prefix(part.size());
      if (auto result = connection.receive(slice_of(pool, part), now); !result) {
        failure = result.error();
        return result;
      }
    }
    return {};
  }
  // What we say to the peer.
  Log say(std::size_t budget = std::string::npos) {
    ChunkQueue out(pool);
    has_more = connection.produce(out, budget);
    std::vector<char> scratch;
    std::string_view text = out.peek_contiguous(scratch);
    if (!preface_said_ && !is_server_) {
      preface_said_ = true;
      EXPECT_TRUE(text.starts_with(kPreface));
      text.remove_prefix(kPreface.size());
    }
    Log lines = reader.read(text);
    EXPECT_TRUE(reader.is_at_boundary());
    return lines;
  }
  // What the owner was told since the last call.
  Log told() { return std::exchange(events, {}); }

  TestStream& stream(std::uint32_t id) {
    for (auto it = streams.rbegin(); it != streams.rend(); ++it) {
      if (it->number == id) return *it;
    }
    ADD_FAILURE() << "no stream " << id;
    return streams.front();
  }
  TestStream& new_stream() { return streams.emplace_back(pool); }

  TestStream& request(http::Method method = http::Method::get, std::string_view path = "/",
                      http::BodySize body = {}, std::string_view upgrade = {}) {
    TestStream& fresh = new_stream();
    http::RequestHead head;
    head.method = method;
    head.method_text = method == http::Method::get    ? "GET"
                       : method == http::Method::head ? "HEAD"
                       : method == http::Method::post ? "POST"
                                                      : "CONNECT";
    head.scheme = "http";
    head.authority = method == http::Method::connect ? "a.example:443" : "a.example";
    head.path = path;
    head.body = body;
    head.upgrade = upgrade;
    connection.send_request(fresh, head);
    fresh.number = fresh.id();
    return fresh;
  }
  void respond(std::uint32_t id, std::uint16_t status, http::BodySize body = {}) {
    http::ResponseHead head;
    head.status = status;
    head.body = body;
    connection.send_response(stream(id), head);
  }
  void send(std::uint32_t id, std::string_view text) {
    ChunkQueue queue(pool);
    queue.append(text);
    connection.send_data(stream(id), queue);
    EXPECT_TRUE(queue.empty());
  }
  void end(std::uint32_t id, const Lines& trailers = {}) {
    http::FieldList fields;
    for (const auto& [name, value] : trailers) fields.add(name, value);
    connection.send_end(stream(id), fields);
  }
  void consume(std::uint32_t id) {
    connection.consumed(stream(id), std::exchange(stream(id).unconsumed, 0));
  }

  // ---- ConnectionHandler
  Stream* on_new_stream() override {
    if (refuses) return nullptr;
    return &new_stream();
  }
  http::RequestHead& request_of(Stream& s) override { return as_test(s).request; }
  http::ResponseHead& response_of(Stream& s) override { return as_test(s).response; }
  void on_request(Stream& s, bool ended) override {
    const http::RequestHead& head = as_test(s).request;
    tell("request", s,
         std::string(head.method_text) + " " + std::string(head.path) + text_of(head.fields) +
             (ended ? " END" : ""));
  }
  void on_refused_request(Stream& s, const Error& error) override {
    tell("refused", s, std::to_string(error.status));
  }
  void on_response(Stream& s, bool ended) override {
    const http::ResponseHead& head = as_test(s).response;
    tell("response", s, std::to_string(head.status) + text_of(head.fields) + (ended ? " END" : ""));
  }
  void on_data(Stream& s, ChunkQueue& data) override {
    std::vector<char> scratch;
    const std::string text(data.peek_contiguous(scratch));
    as_test(s).unconsumed += data.size();
    received[s.id()] += text;
    if (keeps_data) {
      kept.append(data);
    } else {
      data.clear();
    }
    tell("data", s, text.size() > 40 ? std::to_string(text.size()) : text);
  }
  void on_end(Stream& s, const http::FieldList& trailers) override {
    tell("end", s, text_of(trailers));
  }
  void on_stream_writable(Stream& s) override { tell("writable", s, ""); }
  void on_closed(Stream& s) override {
    EXPECT_EQ(s.id(), 0U);
    tell("closed", s, "");
  }
  void on_reset(Stream& s, const Error& error) override {
    EXPECT_EQ(s.id(), 0U);
    last_reset = error;
    tell("reset", s, name_of(static_cast<ErrorCode>(error.native)));
  }
  void on_goaway() override {
    events.push_back("goaway");
    if (then) then("goaway", 0);
  }

  ChunkPool pool;
  Options options;
  TimePoint now{std::chrono::hours(1)};
  FrameReader reader;
  std::deque<TestStream> streams;
  Log events;
  Error failure;
  Error last_reset;
  bool refuses = false;
  bool keeps_data = false;
  bool has_more = false;
  ChunkQueue kept{pool};
  std::map<std::uint32_t, std::string> received;
  // Called behind every event: (event, stream id).
  std::function<void(std::string_view, std::uint32_t)> then;
  Connection connection;

 protected:
  bool is_server_ = true;

 private:
  TestStream& as_test(Stream& s) {
    auto& stream = static_cast<TestStream&>(s);
    if (s.id() != 0) stream.number = s.id();
    return stream;
  }
  void tell(std::string_view event, Stream& s, std::string_view text) {
    const std::uint32_t id = as_test(s).number;
    std::string line = std::string(event) + " " + std::to_string(id);
    if (!text.empty()) line += (text.starts_with(' ') ? "" : " ") + std::string(text);
    events.push_back(line);
    if (then) then(event, id);
  }

  bool preface_said_ = false;
};

struct Server : Playbook {
  explicit Server(Options with = {}, bool greeted = true) : Playbook(Role::server, with) {
    if (greeted) greet();
  }
};
struct Client : Playbook {
  explicit Client(Options with = {}, bool greeted = true) : Playbook(Role::client, with) {
    is_server_ = false;
    if (greeted) greet();
  }
};

// The connection ended with this code, in GOAWAY and for the owner, and says nothing more.
inline void expect_failed(Playbook& book, const Result<>& result, ErrorCode code) {
  ASSERT_FALSE(result.has_value()) << "the connection goes on";
  EXPECT_EQ(static_cast<ErrorCode>(result.error().native), code) << result.error().what;
  const Log said = book.say();
  ASSERT_FALSE(said.empty());
  EXPECT_THAT(said.back(), testing::StartsWith("GOAWAY "));
  EXPECT_THAT(said.back(), testing::EndsWith(name_of(code)));
  EXPECT_TRUE(book.hear(ping("12345678")).has_value());
  EXPECT_FALSE(book.connection.has_output());
}
// Only the stream ended with this code; the connection goes on.
inline void expect_reset(Playbook& book, const Result<>& result, std::uint32_t id, ErrorCode code) {
  ASSERT_TRUE(result.has_value()) << result.error().what;
  EXPECT_THAT(book.say(),
              Contains("RST_STREAM " + std::to_string(id) + " " + std::string(name_of(code))));
  ASSERT_TRUE(book.hear(ping("12345678")).has_value());
  EXPECT_THAT(book.say(), Contains("PING ACK 12345678"));
}

}  // namespace titanium::http2::test
