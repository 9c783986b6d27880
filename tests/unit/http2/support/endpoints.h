// SPDX-License-Identifier: MIT
//
// Servers that echo bodies and clients that check them, of our own and of nghttp2, so that each
// client can be put before each server.
#pragma once

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "http2/connection.h"

namespace titanium::http2::test {

class Endpoint {
 public:
  virtual ~Endpoint() = default;
  // What it wants to send now; empty if nothing.
  virtual std::string say() = 0;
  virtual void hear(std::string_view bytes) = 0;
};

// Byte `at` of the body of a request.
inline char body_byte(std::size_t seed, std::size_t at) {
  return static_cast<char>(seed * 31 + at * 7 + at / 251);
}
inline std::string body_of(std::size_t seed, std::size_t bytes) {
  std::string body(bytes, '\0');
  for (std::size_t at = 0; at < bytes; ++at) body[at] = body_byte(seed, at);
  return body;
}

// What became of the requests of a client.
struct Tally {
  std::size_t answered = 0;  // With the right body.
  std::size_t wrong = 0;
  std::size_t failed = 0;
};

class EchoingClient : public Endpoint {
 public:
  [[nodiscard]] virtual bool can_open() = 0;
  virtual void open(std::size_t seed, std::size_t bytes, bool trailers) = 0;
  Tally tally;
};

// ---- Ours.

class OurEnd : public Endpoint, public ConnectionHandler {
 public:
  struct Exchange final : Stream {
    explicit Exchange(ChunkPool& pool) : Stream(pool) {}
    http::RequestHead request;
    http::ResponseHead response;
    std::string expected;
    std::string received;
  };

  OurEnd(Role role, const Options& with)
      : options(with), connection(role, options, pool, *this, now) {}

  std::string say() override {
    ChunkQueue out(pool);
    (void)connection.produce(out, 40'000);
    std::vector<char> scratch;
    return std::string(out.peek_contiguous(scratch));
  }
  void hear(std::string_view bytes) override {
    // As reads do it: chunks of a fixed size, whatever the frames are.
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, 1 + piece_ % 9'000);
      piece_ = piece_ * 1'103'515'245 + 12'345;
      bytes.remove_prefix(part.size());
      ChunkRef chunk(pool.take());
      std::memcpy(chunk->data(), part.data(), part.size());
      const Result<> result = connection.receive(
          {.chunk = chunk, .begin = 0, .end = static_cast<std::uint32_t>(part.size())}, now);
      EXPECT_TRUE(result) << result.error().what;
    }
  }

  Exchange& take() {
    if (free_.empty()) return all_.emplace_back(pool);
    Exchange& exchange = *free_.back();
    free_.pop_back();
    exchange.received.clear();
    return exchange;
  }
  void give_back(Stream& stream) { free_.push_back(static_cast<Exchange*>(&stream)); }

  Stream* on_new_stream() override { return &take(); }
  http::RequestHead& request_of(Stream& s) override { return static_cast<Exchange&>(s).request; }
  http::ResponseHead& response_of(Stream& s) override { return static_cast<Exchange&>(s).response; }
  void on_request(Stream&, bool) override {}
  void on_refused_request(Stream&, const Error&) override { ADD_FAILURE(); }
  void on_response(Stream&, bool) override {}
  void on_data(Stream&, ChunkQueue& data) override { data.clear(); }
  void on_end(Stream&, const http::FieldList&) override {}
  void on_stream_writable(Stream&) override {}
  void on_closed(Stream& s) override { give_back(s); }
  void on_reset(Stream& s, const Error&) override { give_back(s); }
  void on_goaway() override {}

  ChunkPool pool;
  Options options;
  Connection::TimePoint now{std::chrono::hours(1)};

 private:
  std::deque<Exchange> all_;
  std::vector<Exchange*> free_;
  std::uint32_t piece_ = 1;

 public:
  Connection connection;  // Last: it refers to all others.
};

class OurServer final : public OurEnd {
 public:
  explicit OurServer(const Options& with = {}) : OurEnd(Role::server, with) {}
  void on_request(Stream& s, bool ended) override {
    http::ResponseHead head;
    head.status = 200;
    head.body = {.kind = http::BodyKind::streamed};
    head.fields.add("x-echo", static_cast<Exchange&>(s).request.path);
    connection.send_response(s, head);
    if (ended) connection.send_end(s, {});
  }
  void on_data(Stream& s, ChunkQueue& data) override {
    const std::size_t bytes = data.size();
    connection.send_data(s, data);
    connection.consumed(s, bytes);
  }
  void on_end(Stream& s, const http::FieldList& trailers) override {
    connection.send_end(s, trailers);
  }
};

class OurClient final : public EchoingClient {
 public:
  explicit OurClient(const Options& with = {}) : end_(*this, with) {}
  std::string say() override { return end_.say(); }
  void hear(std::string_view bytes) override { end_.hear(bytes); }
  bool can_open() override {
    return end_.connection.received_settings() && end_.connection.can_open();
  }
  void open(std::size_t seed, std::size_t bytes, bool trailers) override {
    OurEnd::Exchange& exchange = end_.take();
    exchange.expected = body_of(seed, bytes);
    http::RequestHead head;
    head.method = http::Method::post;
    head.method_text = "POST";
    head.scheme = "http";
    head.authority = "a.example";
    const std::string path = "/" + std::to_string(seed);
    head.path = path;
    head.body = {.kind = http::BodyKind::streamed};
    if (seed % 3 == 0) head.body = {.kind = http::BodyKind::sized, .bytes = bytes};
    end_.connection.send_request(exchange, head);
    ChunkQueue body(end_.pool);
    body.append(exchange.expected);
    end_.connection.send_data(exchange, body);
    http::FieldList fields;
    if (trailers) fields.add("x-sum", "of the body");
    end_.connection.send_end(exchange, fields);
  }

 private:
  struct End final : OurEnd {
    End(OurClient& of, const Options& with) : OurEnd(Role::client, with), client(of) {}
    void on_data(Stream& s, ChunkQueue& data) override {
      std::vector<char> scratch;
      static_cast<Exchange&>(s).received += data.peek_contiguous(scratch);
      connection.consumed(s, data.size());
      data.clear();
    }
    void on_closed(Stream& s) override {
      const auto& exchange = static_cast<Exchange&>(s);
      ++(exchange.received == exchange.expected ? client.tally.answered : client.tally.wrong);
      give_back(s);
    }
    void on_reset(Stream& s, const Error&) override {
      ++client.tally.failed;
      give_back(s);
    }
    OurClient& client;
  };
  End end_;
};

// ---- nghttp2.

// What both of its roles share: sessions without I/O, and bodies that are read from strings.
class NgEnd {
 public:
  struct Body {
    std::string out;  // To be sent.
    std::size_t sent = 0;
    bool ended = false;  // Nothing comes behind `out`.
    bool trailers = false;
    std::string received;
    std::string expected;
  };

  explicit NgEnd(bool is_server) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &NgEnd::frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &NgEnd::chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &NgEnd::close);
    nghttp2_session* session = nullptr;
    is_server ? nghttp2_session_server_new(&session, callbacks, this)
              : nghttp2_session_client_new(&session, callbacks, this);
    session_.reset(session);
    nghttp2_session_callbacks_del(callbacks);
  }
  virtual ~NgEnd() = default;

  void submit_settings(std::initializer_list<nghttp2_settings_entry> list) {
    nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, list.begin(), list.size());
  }
  std::string say() {
    std::string out;
    for (;;) {
      const std::uint8_t* bytes = nullptr;
      const auto count = nghttp2_session_mem_send2(session_.get(), &bytes);
      EXPECT_GE(count, 0);
      if (count <= 0) return out;
      out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
    }
  }
  void hear(std::string_view text) {
    const auto count = nghttp2_session_mem_recv2(
        session_.get(), reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    EXPECT_EQ(count, static_cast<nghttp2_ssize>(text.size()));
  }
  [[nodiscard]] nghttp2_session* session() { return session_.get(); }
  Body& body(std::int32_t id) { return bodies_[id]; }

  nghttp2_data_provider2 provider() {
    nghttp2_data_provider2 provider{};
    provider.read_callback = &NgEnd::read;
    return provider;
  }
  static nghttp2_nv field(std::string_view name, std::string_view value) {
    return {.name = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
            .value = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
            .namelen = name.size(),
            .valuelen = value.size(),
            .flags = NGHTTP2_NV_FLAG_NONE};
  }

 protected:
  virtual void on_headers(std::int32_t /*id*/, bool /*is_request*/) {}
  virtual void on_data(std::int32_t id, std::string_view data) = 0;
  virtual void on_end(std::int32_t /*id*/) {}
  virtual void on_close(std::int32_t id, std::uint32_t code) = 0;

 private:
  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    auto& end = *static_cast<NgEnd*>(self);
    if (frame->hd.type == NGHTTP2_HEADERS) {
      end.on_headers(frame->hd.stream_id, frame->headers.cat == NGHTTP2_HCAT_REQUEST);
    }
    const bool can_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (can_end && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      end.on_end(frame->hd.stream_id);
    }
    EXPECT_NE(frame->hd.type, NGHTTP2_GOAWAY);
    return 0;
  }
  static int chunk(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                   std::size_t bytes, void* self) {
    static_cast<NgEnd*>(self)->on_data(id, {reinterpret_cast<const char*>(data), bytes});
    return 0;
  }
  static int close(nghttp2_session*, std::int32_t id, std::uint32_t code, void* self) {
    auto& end = *static_cast<NgEnd*>(self);
    end.on_close(id, code);
    end.bodies_.erase(id);
    return 0;
  }
  static nghttp2_ssize read(nghttp2_session* session, std::int32_t id, std::uint8_t* out,
                            std::size_t bytes, std::uint32_t* flags, nghttp2_data_source*,
                            void* self) {
    Body& body = static_cast<NgEnd*>(self)->bodies_[id];
    const std::size_t part = std::min(bytes, body.out.size() - body.sent);
    std::memcpy(out, body.out.data() + body.sent, part);
    body.sent += part;
    if (body.sent == body.out.size() && body.ended) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (body.trailers) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        const nghttp2_nv trailer = field("x-sum", "of the body");
        nghttp2_submit_trailer(session, id, &trailer, 1);
      }
    } else if (part == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<nghttp2_ssize>(part);
  }

  struct Delete {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };
  std::unique_ptr<nghttp2_session, Delete> session_;
  std::map<std::int32_t, Body> bodies_;
};

class NgServer final : public Endpoint, private NgEnd {
 public:
  explicit NgServer(std::initializer_list<nghttp2_settings_entry> settings = {}) : NgEnd(true) {
    submit_settings(settings);
  }
  std::string say() override { return NgEnd::say(); }
  void hear(std::string_view bytes) override { NgEnd::hear(bytes); }

 private:
  void on_headers(std::int32_t id, bool is_request) override {
    if (!is_request) return;
    const nghttp2_nv status = field(":status", "200");
    const nghttp2_data_provider2 source = provider();
    nghttp2_submit_response2(session(), id, &status, 1, &source);
  }
  void on_data(std::int32_t id, std::string_view data) override {
    body(id).out += data;
    nghttp2_session_resume_data(session(), id);
  }
  void on_end(std::int32_t id) override {
    body(id).ended = true;
    body(id).trailers = id % 4 == 1;
    nghttp2_session_resume_data(session(), id);
  }
  void on_close(std::int32_t, std::uint32_t code) override { EXPECT_EQ(code, 0U); }
};

class NgClient final : public EchoingClient, private NgEnd {
 public:
  explicit NgClient(std::initializer_list<nghttp2_settings_entry> settings = {}) : NgEnd(false) {
    submit_settings(settings);
  }
  std::string say() override { return NgEnd::say(); }
  void hear(std::string_view bytes) override { NgEnd::hear(bytes); }
  bool can_open() override { return open_ < 100; }
  void open(std::size_t seed, std::size_t bytes, bool trailers) override {
    ++open_;
    const std::string path = "/" + std::to_string(seed);
    const std::string length = std::to_string(bytes);
    std::vector<nghttp2_nv> lines = {field(":method", "POST"), field(":scheme", "http"),
                                     field(":path", path), field(":authority", "a.example"),
                                     field("user-agent", "nghttp2")};
    if (seed % 3 == 0) lines.push_back(field("content-length", length));
    const nghttp2_data_provider2 source = provider();
    const std::int32_t id =
        nghttp2_submit_request2(session(), nullptr, lines.data(), lines.size(), &source, nullptr);
    ASSERT_GT(id, 0);
    body(id).out = body(id).expected = body_of(seed, bytes);
    body(id).ended = true;
    body(id).trailers = trailers;
  }

 private:
  void on_data(std::int32_t id, std::string_view data) override { body(id).received += data; }
  void on_close(std::int32_t id, std::uint32_t code) override {
    --open_;
    if (code != 0) {
      ++tally.failed;
    } else {
      ++(body(id).received == body(id).expected ? tally.answered : tally.wrong);
    }
  }
  std::size_t open_ = 0;
};

}  // namespace titanium::http2::test
