// SPDX-License-Identifier: MIT
//
// The two servers that the differential target compares, seen from their client: our connection and
// a session of nghttp2. Both advertise the same, are told the same, and do the same with requests.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../../tests/unit/http2/support/frames.h"
#include "../session.h"

namespace titanium::fuzz {

using http2::test::Lines;

inline constexpr std::uint32_t kStreams = 6;
inline constexpr std::uint32_t kStreamWindow = 3'000;
inline constexpr std::uint32_t kLargestStreamWindow = 24'000;
inline constexpr std::uint32_t kConnectionWindow = 70'000;
inline constexpr std::uint32_t kConnectionGrowth = 50'000;
inline constexpr std::uint32_t kBlockFrames = 8;

// What a server made of one stream.
struct Exchange {
  bool is_open = false;   // The client has sent HEADERS.
  bool accepted = false;  // Its owner was told of the request.
  bool refused = false;   // Ours: it is answered with an error by the connection's own judgement.
  Lines head;             // As RequestHead has it: :method, :scheme, :authority, :path, :protocol.
  std::string body;
  bool ended = false;  // The request is complete.
  Lines trailers;
  std::optional<std::uint32_t> reset;  // The server said RST_STREAM.
  bool closed = false;                 // The server has forgotten it.
  bool answered = false;
  std::size_t held = 0;     // Body bytes that the owner has not passed on.
  std::int64_t window = 0;  // What the client may send.
};

struct Answer {
  std::size_t bytes = 0;
  bool has_trailers = false;
};

class Server {
 public:
  virtual ~Server() = default;
  virtual void hear(std::string_view bytes, std::size_t piece) = 0;
  virtual void answer(std::uint32_t id, const Answer& answer) = 0;
  virtual void abort(std::uint32_t id) = 0;
  virtual void drain() = 0;
  virtual void pass_on(std::uint32_t id, std::size_t bytes) = 0;

  // Everything it wants to say now.
  void flush() {
    frames_.read(say(), [this](const FrameHeader& header, std::string_view payload) {
      on_frame(header, payload);
    });
  }
  void pass_on_all() {
    for (auto& [id, exchange] : exchanges) {
      if (exchange.held > 0) pass_on(id, std::exchange(exchange.held, 0));
    }
  }
  // The client has sent so much DATA, padding included.
  void take_window(std::uint32_t id, std::size_t bytes) {
    window -= static_cast<std::int64_t>(bytes);
    exchanges[id].window -= static_cast<std::int64_t>(bytes);
  }
  Exchange& open(std::uint32_t id) {
    Exchange& exchange = exchanges[id];
    exchange.window = initial_window;
    exchange.is_open = true;
    return exchange;
  }
  void on_settings_acknowledged() {
    for (auto& [id, exchange] : exchanges) {
      exchange.window += std::int64_t{kStreamWindow} - initial_window;
    }
    initial_window = kStreamWindow;
  }

  std::map<std::uint32_t, Exchange> exchanges;
  std::optional<std::uint32_t> failure;  // Code of the GOAWAY that ended the connection.
  std::int64_t window = http2::kDefaultWindow;
  std::int64_t initial_window = http2::kDefaultWindow;

 protected:
  virtual std::string say() = 0;

 private:
  static std::uint32_t u32(std::string_view text, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      value = value << 8 | static_cast<std::uint8_t>(text[at + i]);
    }
    return value;
  }
  void on_frame(const FrameHeader& header, std::string_view payload) {
    switch (static_cast<FrameType>(header.type)) {
      case FrameType::window_update:
        (header.stream_id == 0 ? window : exchanges[header.stream_id].window) += u32(payload, 0);
        return;
      case FrameType::rst_stream:
        exchanges[header.stream_id].reset = u32(payload, 0);
        return;
      case FrameType::goaway:
        if (const std::uint32_t code = u32(payload, 4); code != 0) failure = code;
        return;
      default:
        return;
    }
  }

  Frames frames_;
};

// Floods are no part of the comparison: budgets are out of reach. So are limits of fields.
inline http2::Options differential_options() {
  constexpr std::uint32_t kNever = 1'000'000;
  return {.concurrent_streams = kStreams,
          .stream_window_bytes = kStreamWindow,
          .largest_stream_window_bytes = kLargestStreamWindow,
          .connection_window_bytes = kConnectionWindow,
          .connection_window_growth_bytes = kConnectionGrowth,
          .fields = {.list_bytes = 1 << 20, .fields = 10'000},
          .trailers = {.list_bytes = 1 << 20, .fields = 10'000},
          .header_block_bytes = 1 << 20,
          .header_block_frames = kBlockFrames,
          .incomplete_resets = kNever,
          .settings_frames = kNever,
          .pings = kNever,
          .empty_frames = kNever,
          .priority_frames = kNever,
          .window_updates = kNever,
          .unknown_frames = kNever};
}

class OurServer final : public Server, private http2::ConnectionHandler {
 public:
  OurServer() : connection_(Role::server, options_, pool_, *this, now_) {}
  ~OurServer() override {
    for (auto& stream : streams_) connection_.reset(stream, http2::ErrorCode::cancel);
  }

  void hear(std::string_view bytes, std::size_t piece) override {
    if (!bytes.starts_with("PRI")) judge_.peer_says(bytes);
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, std::max<std::size_t>(piece, 1));
      bytes.remove_prefix(part.size());
      ChunkRef chunk(pool_.take_large(part.size()));
      std::memcpy(chunk->data(), part.data(), part.size());
      const Result<> result = connection_.receive(
          {.chunk = chunk, .begin = 0, .end = static_cast<std::uint32_t>(part.size())}, now_);
      if (!result) failed_ = true;
    }
  }
  void answer(std::uint32_t id, const Answer& answer) override {
    FuzzStream& stream = *by_id_.at(id);
    http::ResponseHead head;
    head.status = stream.is_upgrade() ? 101 : 200;
    const bool is_tunnel = stream.is_upgrade() || stream.request.method == http::Method::connect;
    head.body.kind = is_tunnel ? http::BodyKind::tunnel : http::BodyKind::streamed;
    connection_.send_response(stream, head);
    ChunkQueue body(pool_);
    body.append(std::string(answer.bytes, 'x'));
    connection_.send_data(stream, body);
    http::FieldList trailers;
    if (answer.has_trailers) trailers.add("x-sum", "1");
    connection_.send_end(stream, trailers);
  }
  void abort(std::uint32_t id) override {
    connection_.reset(*by_id_.at(id), http2::ErrorCode::cancel);
    forget(id);
  }
  void drain() override { connection_.start_drain(); }
  void pass_on(std::uint32_t id, std::size_t bytes) override {
    if (const auto stream = by_id_.find(id); stream != by_id_.end()) {
      connection_.consumed(*stream->second, bytes);
    }
  }
  void wait(std::chrono::milliseconds time) { now_ += time; }

  // Whatever waits has no window to leave through; and no window is larger than allowed, or stays
  // small though nothing waits.
  void check() {
    if (failed_) return require(failure.has_value() && !connection_.has_output());
    require(!connection_.has_output());
    std::int64_t held = 0;
    for (const auto& [id, stream] : by_id_) {
      const Exchange& exchange = exchanges[id];
      require(stream->queued_bytes() == 0 || judge_.window_left(id) <= 0);
      held += static_cast<std::int64_t>(exchange.held);
      const std::int64_t open = exchange.window + static_cast<std::int64_t>(exchange.held);
      require(open <= std::max<std::int64_t>(initial_window, kLargestStreamWindow));
      const bool wants_more = !exchange.ended && !exchange.refused;
      require(!wants_more || exchange.held > 0 || exchange.window >= kStreamWindow / 2);
    }
    require(window + held <= kConnectionWindow + kConnectionGrowth);
    require(held > 0 || window >= kConnectionWindow / 2);
  }
  [[nodiscard]] std::size_t stream_count() const { return connection_.stream_count(); }

 private:
  std::string say() override {
    ChunkQueue out(pool_);
    while (connection_.produce(out, out.size() + 30'000)) {
    }
    std::vector<char> scratch;
    std::string text(out.peek_contiguous(scratch));
    judge_.we_say(text);
    return text;
  }
  static FuzzStream& as_fuzz(http2::Stream& stream) { return static_cast<FuzzStream&>(stream); }
  static Lines lines_of(const http::FieldList& fields) {
    Lines lines;
    for (const http::Field& field : fields) lines.emplace_back(field.name, field.value);
    return lines;
  }
  Exchange& seen(http2::Stream& stream) {
    by_id_[stream.id()] = &as_fuzz(stream);
    return exchanges[stream.id()];
  }
  std::uint32_t forget(std::uint32_t id) {
    by_id_.erase(id);
    exchanges[id].closed = true;
    exchanges[id].held = 0;  // The connection has taken care of it.
    return id;
  }
  void forget(http2::Stream& stream) {
    const auto is_it = [&](const auto& entry) { return entry.second == &stream; };
    // A head that is refused at once was never seen.
    if (const auto entry = std::ranges::find_if(by_id_, is_it); entry != by_id_.end()) {
      forget(entry->first);
    }
  }

  http2::Stream* on_new_stream() override { return &streams_.emplace_back(pool_); }
  http::RequestHead& request_of(http2::Stream& s) override { return as_fuzz(s).request; }
  http::ResponseHead& response_of(http2::Stream& s) override { return as_fuzz(s).response; }
  void on_request(http2::Stream& s, bool ended) override {
    const http::RequestHead& head = as_fuzz(s).request;
    Exchange& exchange = seen(s);
    exchange.accepted = true;
    exchange.ended = ended;
    exchange.head = {{":method", std::string(head.method_text)},
                     {":scheme", std::string(head.scheme)},
                     {":authority", std::string(head.authority)},
                     {":path", std::string(head.path)},
                     {":protocol", std::string(head.upgrade)}};
    std::ranges::move(lines_of(head.fields), std::back_inserter(exchange.head));
  }
  void on_refused_request(http2::Stream& s, const Error& error) override {
    require(error.status == 417);
    seen(s).refused = true;
    http::ResponseHead head;
    head.status = error.status;
    head.body = {.kind = http::BodyKind::sized, .bytes = 0};
    connection_.send_response(s, head);
  }
  void on_response(http2::Stream&, bool) override { require(false); }
  void on_data(http2::Stream& s, ChunkQueue& data) override {
    std::vector<char> scratch;
    Exchange& exchange = seen(s);
    require(exchange.accepted && !exchange.ended && !data.empty());
    exchange.body += data.peek_contiguous(scratch);
    exchange.held += data.size();
    data.clear();
  }
  void on_end(http2::Stream& s, const http::FieldList& trailers) override {
    Exchange& exchange = seen(s);
    require(exchange.accepted && !exchange.ended);
    exchange.ended = true;
    exchange.trailers = lines_of(trailers);
  }
  void on_stream_writable(http2::Stream&) override {}
  void on_closed(http2::Stream& s) override { forget(s); }
  void on_reset(http2::Stream& s, const Error&) override { forget(s); }
  void on_goaway() override {}

  ChunkPool pool_;
  http2::Options options_ = differential_options();
  Connection::TimePoint now_{std::chrono::hours(1)};
  Judge judge_;
  std::deque<FuzzStream> streams_;
  std::map<std::uint32_t, FuzzStream*> by_id_;
  bool failed_ = false;
  Connection connection_;  // Last: it refers to all others.
};

// nghttp2 leaves bad fields out by default; here it is asked to refuse them, as it offers.
class Nghttp2Server final : public Server {
 public:
  Nghttp2Server() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, &on_invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &on_close);
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_max_continuations(option, kBlockFrames - 1);
    nghttp2_option_set_max_settings(option, 10'000);
    nghttp2_session* session = nullptr;
    nghttp2_session_server_new2(&session, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    session_.reset(session);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kStreams},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
        {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1}};
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  }

  void hear(std::string_view bytes, std::size_t) override {
    const auto count = nghttp2_session_mem_recv2(
        session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    // What the library does not survive, it leaves to the caller to say GOAWAY for.
    if (count < 0) failure = NGHTTP2_INTERNAL_ERROR;
  }
  void answer(std::uint32_t id, const Answer& answer) override {
    answers_[id] = answer;
    nghttp2_data_provider2 provider{};
    provider.read_callback = &read;
    const nghttp2_nv status = field(":status", "200");
    // nghttp2 does not ask for a body while the window is shut, not even whether there is one.
    nghttp2_submit_response2(session_.get(), static_cast<std::int32_t>(id), &status, 1,
                             answer.bytes == 0 ? nullptr : &provider);
  }
  void abort(std::uint32_t id) override {
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, static_cast<std::int32_t>(id),
                              NGHTTP2_CANCEL);
  }
  // It has nothing to say any more, and does not listen.
  [[nodiscard]] bool is_done() const {
    return nghttp2_session_want_read(session_.get()) == 0 &&
           nghttp2_session_want_write(session_.get()) == 0;
  }
  [[nodiscard]] std::size_t stream_count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        exchanges, [](const auto& entry) { return entry.second.is_open && !entry.second.closed; }));
  }
  void drain() override {
    nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session_.get()), NGHTTP2_NO_ERROR,
                          nullptr, 0);
  }
  void pass_on(std::uint32_t id, std::size_t bytes) override {
    nghttp2_session_consume(session_.get(), static_cast<std::int32_t>(id), bytes);
  }

 private:
  static Nghttp2Server& self(void* user) { return *static_cast<Nghttp2Server*>(user); }
  static nghttp2_nv field(std::string_view name, std::string_view value) {
    return {.name = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
            .value = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
            .namelen = name.size(),
            .valuelen = value.size(),
            .flags = NGHTTP2_NV_FLAG_NONE};
  }
  std::string say() override {
    std::string out;
    for (;;) {
      const std::uint8_t* bytes = nullptr;
      const auto count = nghttp2_session_mem_send2(session_.get(), &bytes);
      if (count < 0) failure = NGHTTP2_INTERNAL_ERROR;
      if (count <= 0) return out;
      out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
    }
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_bytes, const std::uint8_t* value, std::size_t value_bytes,
                       std::uint8_t, void* user) {
    self(user).lines_[frame->hd.stream_id].emplace_back(
        std::string(reinterpret_cast<const char*>(name), name_bytes),
        std::string(reinterpret_cast<const char*>(value), value_bytes));
    return 0;
  }
  static int on_invalid_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t*,
                               std::size_t, const std::uint8_t*, std::size_t, std::uint8_t, void*) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    const std::uint8_t type = frame->hd.type;
    if (type != NGHTTP2_HEADERS && type != NGHTTP2_DATA) return 0;
    Exchange& exchange = self(user).exchanges[static_cast<std::uint32_t>(frame->hd.stream_id)];
    if (type == NGHTTP2_HEADERS) {
      Lines lines = std::exchange(self(user).lines_[frame->hd.stream_id], {});
      const bool is_request = frame->headers.cat == NGHTTP2_HCAT_REQUEST;
      (is_request ? exchange.head : exchange.trailers) = std::move(lines);
      if (is_request) exchange.accepted = true;
    }
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) exchange.ended = true;
    return 0;
  }
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                     std::size_t bytes, void* user) {
    Exchange& exchange = self(user).exchanges[static_cast<std::uint32_t>(id)];
    exchange.body.append(reinterpret_cast<const char*>(data), bytes);
    exchange.held += bytes;
    return 0;
  }
  static int on_close(nghttp2_session* session, std::int32_t id, std::uint32_t, void* user) {
    Exchange& exchange = self(user).exchanges[static_cast<std::uint32_t>(id)];
    exchange.closed = true;
    nghttp2_session_consume_connection(session, std::exchange(exchange.held, 0));
    return 0;
  }
  static nghttp2_ssize read(nghttp2_session* session, std::int32_t id, std::uint8_t* out,
                            std::size_t bytes, std::uint32_t* flags, nghttp2_data_source*,
                            void* user) {
    Answer& answer = self(user).answers_[static_cast<std::uint32_t>(id)];
    const std::size_t part = std::min(bytes, answer.bytes);
    std::memset(out, 'x', part);
    answer.bytes -= part;
    if (answer.bytes > 0) return static_cast<nghttp2_ssize>(part);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (answer.has_trailers) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const nghttp2_nv trailer = field("x-sum", "1");
      nghttp2_submit_trailer(session, id, &trailer, 1);
    }
    return static_cast<nghttp2_ssize>(part);
  }

  struct Delete {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };
  std::unique_ptr<nghttp2_session, Delete> session_;
  std::map<std::int32_t, Lines> lines_;  // Of blocks that are not complete.
  std::map<std::uint32_t, Answer> answers_;
};

}  // namespace titanium::fuzz
