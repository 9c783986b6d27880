// SPDX-License-Identifier: MIT
//
// RFC 9113 as a list of what a client may say, or not, and what a server has to answer; in the
// order of the sections that conformance suites are written by.
#include <algorithm>
#include <string>
#include <vector>

#include "unit/http2/support/playbook.h"

namespace titanium::http2 {
namespace {

using namespace test;

enum class Outcome : std::uint8_t { fine, stream_error, connection_error };

struct Case {
  std::string_view section;
  std::string_view name;
  std::string input;  // Behind preface and SETTINGS.
  Outcome outcome = Outcome::fine;
  ErrorCode code = ErrorCode::no_error;
  std::uint32_t stream = 1;  // That a stream error is about.
  std::string said = {};     // One line that has to be among what is said.
};

constexpr auto kFine = Outcome::fine;
constexpr auto kStream = Outcome::stream_error;
constexpr auto kConnection = Outcome::connection_error;
constexpr auto kProtocol = ErrorCode::protocol_error;
constexpr auto kFrameSize = ErrorCode::frame_size_error;
constexpr auto kFlow = ErrorCode::flow_control_error;
constexpr auto kClosed = ErrorCode::stream_closed;
constexpr auto kCompression = ErrorCode::compression_error;

std::string raw_headers(std::uint32_t id, std::string_view block,
                        std::uint8_t flags = kWhole | kEnd) {
  return frame(FrameType::headers, flags, id, block);
}
Lines with(Lines lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}
Lines without(Lines lines, std::string_view name) {
  std::erase_if(lines, [&](const auto& line) { return line.first == name; });
  return lines;
}
Lines replaced(Lines lines, std::string_view name, std::string_view value) {
  for (auto& line : lines) {
    if (line.first == name) line.second = value;
  }
  return lines;
}
std::string request_of(const Lines& lines) { return headers(1, lines, kWhole | kEnd); }

void run(const Case& c, std::size_t piece) {
  Server server;
  const Result<> result = server.hear(c.input, piece);
  switch (c.outcome) {
    case Outcome::fine: {
      ASSERT_TRUE(result.has_value()) << result.error().what;
      const Log said = server.say();
      EXPECT_THAT(said, Not(Contains(testing::StartsWith("RST_STREAM"))));
      if (!c.said.empty()) {
        EXPECT_THAT(said, Contains(c.said));
      }
      ASSERT_TRUE(server.hear(ping("12345678")));
      EXPECT_THAT(server.say(), Contains("PING ACK 12345678"));
      return;
    }
    case Outcome::stream_error:
      return expect_reset(server, result, c.stream, c.code);
    case Outcome::connection_error:
      return expect_failed(server, result, c.code);
  }
}

void run(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    for (const std::size_t piece : {std::string_view::npos, std::size_t{1}}) {
      SCOPED_TRACE(std::string(c.section) + ": " + std::string(c.name) +
                   (piece == 1 ? ", byte by byte" : ""));
      run(c, piece);
    }
  }
}

TEST(ServerConformance, FramesThatAreFine) {
  const std::string five(5, 'x');
  run({
      {"5.1", "PRIORITY on an idle stream", priority(7, 0)},
      {"5.1", "WINDOW_UPDATE when half-closed", get(1) + window_update(1, 100)},
      {"5.1", "PRIORITY when half-closed", get(1) + priority(1, 0)},
      {"5.1", "RST_STREAM when half-closed", get(1) + rst_stream(1, ErrorCode::cancel)},
      {"5.1", "PRIORITY when closed", get(1) + rst_stream(1, ErrorCode::cancel) + priority(1, 0)},
      {"5.1", "WINDOW_UPDATE when closed",
       get(1) + rst_stream(1, ErrorCode::cancel) + window_update(1, 1)},
      {"6.1", "DATA", post(1) + data(1, "a", kEnd)},
      {"6.1", "several DATA", post(1) + data(1, "a") + data(1, "b") + data(1, "c", kEnd)},
      {"6.1", "DATA with padding", post(1) + padded_data(1, "a", 255, kEnd)},
      {"6.1", "DATA of padding alone", post(1) + padded_data(1, "", 4, kEnd)},
      {"6.2", "HEADERS", get(1)},
      {"6.2", "HEADERS with padding",
       frame(FrameType::headers, kWhole | kEnd | flag::kPadded, 1,
             "\x05" + literal_block(get_lines()) + five)},
      {"6.2", "HEADERS with priority",
       frame(FrameType::headers, kWhole | kEnd | flag::kPriority, 1,
             u32(0x8000'0003) + "\xff" + literal_block(get_lines()))},
      {"6.2", "HEADERS with padding and priority",
       frame(FrameType::headers, kWhole | kEnd | flag::kPriority | flag::kPadded, 1,
             "\x05" + u32(3) + "\xff" + literal_block(get_lines()) + five)},
      {"6.3", "PRIORITY with a dependency on a stream that is idle", priority(1, 99)},
      {"6.4", "RST_STREAM", post(1) + rst_stream(1, ErrorCode::cancel)},
      {"6.4", "RST_STREAM with an unknown code",
       post(1) + rst_stream(1, static_cast<ErrorCode>(0xff))},
      {"6.5", "SETTINGS", settings({{4, 10}}), kFine, {}, 1, "SETTINGS ACK"},
      {"6.5.2", "SETTINGS that nobody knows", settings({{0xff, 1}}), kFine, {}, 1, "SETTINGS ACK"},
      {"6.5.3",
       "the same SETTINGS several times",
       settings({{4, 1}, {4, 2}}),
       kFine,
       {},
       1,
       "SETTINGS ACK"},
      {"6.7", "PING", ping("abcdefgh"), kFine, {}, 1, "PING ACK abcdefgh"},
      {"6.7", "PING ACK that was not asked for", ping("abcdefgh", flag::kAck)},
      {"6.8", "GOAWAY", goaway(0, ErrorCode::no_error)},
      {"6.8", "GOAWAY with an unknown code", goaway(0, static_cast<ErrorCode>(0xff))},
      {"6.9", "WINDOW_UPDATE of the connection", window_update(0, 1)},
      {"6.9", "WINDOW_UPDATE of a stream", post(1) + window_update(1, 1)},
      {"6.10", "CONTINUATION",
       frame(FrameType::headers, kEnd, 1, literal_block(get_lines()).substr(0, 10)) +
           continuation(1, literal_block(get_lines()).substr(10), kWhole)},
      {"6.10", "several CONTINUATION",
       frame(FrameType::headers, kEnd, 1, literal_block(get_lines()).substr(0, 10)) +
           continuation(1, literal_block(get_lines()).substr(10, 5)) +
           continuation(1, literal_block(get_lines()).substr(15), kWhole)},
      {"8.1", "request with trailers",
       post(1) + data(1, "a") + headers(1, {{"x", "y"}}, kWhole | kEnd)},
      {"4.1", "frame of an unknown type", frame(std::uint8_t{0xf0}, 0, 0, five)},
      {"4.1", "frame of an unknown type without payload", frame(std::uint8_t{0xf0}, 0, 7, "")},
      {"4.1",
       "unknown flags",
       frame(FrameType::ping, 0x16, 0, "abcdefgh"),
       kFine,
       {},
       1,
       "PING ACK abcdefgh"},
      {"4.1",
       "reserved bit of the stream id",
       frame(FrameType::ping, 0, 0x8000'0000, "abcdefgh"),
       kFine,
       {},
       1,
       "PING ACK abcdefgh"},
      {"4.2", "DATA of 16,384 bytes", post(1) + data(1, std::string(16'384, 'x'), kEnd)},
      {"5.5", "extension frame on a stream", post(1) + frame(std::uint8_t{0x20}, 0, 1, five)},
      {"9218 7.1", "PRIORITY_UPDATE", post(1) + priority_update(1, "u=1, i")},
      {"9218 7.1", "PRIORITY_UPDATE for a stream to come", priority_update(5, "u=1")},
  });
}

TEST(ServerConformance, Frames) {
  const std::string large(16'385, 'x');
  const std::string half = literal_block(get_lines()).substr(0, 10);
  run({
      {"4.2", "DATA that is too large", post(1) + data(1, large), kConnection, kFrameSize},
      {"4.2", "HEADERS that are too large", raw_headers(1, large), kConnection, kFrameSize},
      {"4.2", "frame of an unknown type that is too large", frame(std::uint8_t{0xf0}, 0, 0, large),
       kConnection, kFrameSize},
      {"4.3", "block that is not HPACK", raw_headers(1, "\x40"), kConnection, kCompression},
      {"4.3", "PRIORITY within a block", frame(FrameType::headers, 0, 1, half) + priority(1, 0),
       kConnection, kProtocol},
      {"4.3", "HEADERS of another stream within a block",
       frame(FrameType::headers, 0, 1, half) + get(3), kConnection, kProtocol},
      {"5.5", "extension frame within a block",
       frame(FrameType::headers, 0, 1, half) + frame(std::uint8_t{0xf0}, 0, 0, ""), kConnection,
       kProtocol},
  });
}

TEST(ServerConformance, StreamStates) {
  const std::string reset = rst_stream(1, ErrorCode::cancel);
  run({
      {"5.1", "idle: DATA", data(1, "a", kEnd), kConnection, kProtocol},
      {"5.1", "idle: RST_STREAM", reset, kConnection, kProtocol},
      {"5.1", "idle: WINDOW_UPDATE", window_update(1, 100), kConnection, kProtocol},
      {"5.1", "idle: CONTINUATION", continuation(1, "", kWhole), kConnection, kProtocol},
      {"5.1", "half-closed: DATA", get(1) + data(1, "a", kEnd), kStream, kClosed},
      {"5.1", "half-closed: HEADERS", get(1) + get(1), kStream, kClosed},
      {"5.1", "half-closed: CONTINUATION", get(1) + continuation(1, "", kWhole), kConnection,
       kProtocol},
      {"5.1", "closed by the peer's reset: DATA", post(1) + reset + data(1, "a"), kStream, kClosed},
      {"5.1", "closed by the peer's reset: HEADERS", post(1) + reset + get(1), kStream, kClosed},
      {"5.1", "closed by the peer's reset: CONTINUATION",
       post(1) + reset + continuation(1, "", kWhole), kConnection, kProtocol},
      {"5.1", "even id, idle: DATA", data(2, "a"), kConnection, kProtocol},
      {"5.1", "even id, idle: WINDOW_UPDATE", window_update(2, 1), kConnection, kProtocol},
      {"5.1.1", "even id", get(2), kConnection, kProtocol},
      {"5.1.1", "lower id than before", get(5) + get(3), kConnection, kProtocol},
      {"5.1.1", "DATA on an id that was left out", get(5) + data(3, "a"), kStream, kClosed, 3},
      {"5.3.1", "HEADERS that depend on themselves",
       frame(FrameType::headers, kWhole | kEnd | flag::kPriority, 1,
             u32(1) + "\x10" + literal_block(get_lines())),
       kStream, kProtocol},
      {"5.3.1", "PRIORITY that depends on itself", post(1) + priority(1, 1), kStream, kProtocol},
      {"5.3.1", "PRIORITY that depends on itself, idle", priority(2, 2), kConnection, kProtocol},
  });
}

TEST(ServerConformance, ClosedStreams) {
  const auto closed = [](std::string_view more, std::size_t piece) {
    Server server;
    EXPECT_TRUE(server.hear(get(1)));
    server.respond(1, 204);
    (void)server.say();
    EXPECT_EQ(server.connection.stream_count(), 0U);
    const Result<> result = server.hear(more, piece);
    return std::pair(result, server.say());
  };
  for (const std::size_t piece : {std::size_t{1}, std::string_view::npos}) {
    EXPECT_THAT(closed(data(1, "a"), piece).second, ElementsAre("RST_STREAM 1 STREAM_CLOSED"));
    EXPECT_THAT(closed(get(1), piece).second, ElementsAre("GOAWAY 1 STREAM_CLOSED"));
    EXPECT_THAT(closed(continuation(1, "", kWhole), piece).second,
                ElementsAre("GOAWAY 1 PROTOCOL_ERROR"));
    EXPECT_THAT(
        closed(window_update(1, 1) + rst_stream(1, ErrorCode::cancel) + priority(1, 0), piece)
            .second,
        IsEmpty());
    // §6.3: whether the stream has just ended makes no difference. Once is enough.
    const std::string short_priority = frame(FrameType::priority, 0, 1, "1234");
    EXPECT_THAT(closed(short_priority + short_priority, piece).second,
                ElementsAre("RST_STREAM 1 FRAME_SIZE_ERROR"));
  }
}

TEST(ServerConformance, FrameDefinitions) {
  const std::string bad_padding = "\x20" + literal_block(get_lines()).substr(0, 5);
  run({
      {"6.1", "DATA without a stream", data(0, "a"), kConnection, kProtocol},
      {"6.1", "padding as long as its frame",
       post(1) + frame(FrameType::data, flag::kPadded, 1, "\x05xxxx"), kConnection, kProtocol},
      {"6.1", "DATA without its pad length", post(1) + frame(FrameType::data, flag::kPadded, 1, ""),
       kConnection, kFrameSize},
      {"6.2", "HEADERS without a stream", get(0), kConnection, kProtocol},
      {"6.2", "HEADERS with too much padding",
       frame(FrameType::headers, kWhole | kEnd | flag::kPadded, 1, bad_padding), kConnection,
       kProtocol},
      {"6.2", "HEADERS without its pad length",
       frame(FrameType::headers, kWhole | flag::kPadded, 1, ""), kConnection, kFrameSize},
      {"6.2", "HEADERS without its priority",
       frame(FrameType::headers, kWhole | flag::kPriority, 1, "1234"), kConnection, kFrameSize},
      {"6.3", "PRIORITY without a stream", priority(0, 1), kConnection, kProtocol},
      {"6.3", "PRIORITY that is too short", post(1) + frame(FrameType::priority, 0, 1, "1234"),
       kStream, kFrameSize},
      {"6.3", "PRIORITY that is too long, idle", frame(FrameType::priority, 0, 1, "123456"),
       kConnection, kFrameSize},
      {"6.4", "RST_STREAM without a stream", rst_stream(0, ErrorCode::cancel), kConnection,
       kProtocol},
      {"6.4", "RST_STREAM that is too short", post(1) + frame(FrameType::rst_stream, 0, 1, "123"),
       kConnection, kFrameSize},
      {"6.5", "ACK with a payload", frame(FrameType::settings, flag::kAck, 0, "123456"),
       kConnection, kFrameSize},
      {"6.5", "SETTINGS of a stream", frame(FrameType::settings, 0, 1, ""), kConnection, kProtocol},
      {"6.5", "SETTINGS of 3 bytes", frame(FrameType::settings, 0, 0, "123"), kConnection,
       kFrameSize},
      {"6.5.2", "ENABLE_PUSH of 2", settings({{2, 2}}), kConnection, kProtocol},
      {"6.5.2", "INITIAL_WINDOW_SIZE of 2^31", settings({{4, 0x8000'0000}}), kConnection, kFlow},
      {"6.5.2", "MAX_FRAME_SIZE that is too small", settings({{5, 16'383}}), kConnection,
       kProtocol},
      {"6.5.2", "MAX_FRAME_SIZE that is too large", settings({{5, 16'777'216}}), kConnection,
       kProtocol},
      {"6.6", "PUSH_PROMISE", post(1) + frame(FrameType::push_promise, kWhole, 1, u32(2)),
       kConnection, kProtocol},
      {"6.7", "PING of a stream", frame(FrameType::ping, 0, 1, "12345678"), kConnection, kProtocol},
      {"6.7", "PING of 6 bytes", frame(FrameType::ping, 0, 0, "123456"), kConnection, kFrameSize},
      {"6.8", "GOAWAY of a stream", frame(FrameType::goaway, 0, 1, "12345678"), kConnection,
       kProtocol},
      {"6.8", "GOAWAY of 4 bytes", frame(FrameType::goaway, 0, 0, "1234"), kConnection, kFrameSize},
      {"6.9", "WINDOW_UPDATE by zero", window_update(0, 0), kConnection, kProtocol},
      {"6.9", "WINDOW_UPDATE by zero of a stream", post(1) + window_update(1, 0), kStream,
       kProtocol},
      {"6.9", "WINDOW_UPDATE of 3 bytes", frame(FrameType::window_update, 0, 0, "123"), kConnection,
       kFrameSize},
      {"6.9.1", "window of the connection over 2^31-1",
       window_update(0, 0x7fff'ffff) + window_update(0, 0x7fff'ffff), kConnection, kFlow},
      {"6.9.1", "window of a stream over 2^31-1",
       post(1) + window_update(1, 0x7fff'ffff) + window_update(1, 0x7fff'ffff), kStream, kFlow},
      {"6.9.2", "INITIAL_WINDOW_SIZE lifts a window over 2^31-1",
       post(1) + window_update(1, 0x7fff'0000) + settings({{4, 0x7fff'0000}}), kConnection, kFlow},
      {"6.10", "block interrupted by DATA", frame(FrameType::headers, 0, 1, "") + data(1, "a"),
       kConnection, kProtocol},
      {"6.10", "CONTINUATION without a stream",
       frame(FrameType::headers, 0, 1, "") + continuation(0, "", kWhole), kConnection, kProtocol},
      {"6.10", "CONTINUATION behind a block that is complete",
       post(1) + continuation(1, "", kWhole), kConnection, kProtocol},
      {"6.10", "CONTINUATION behind a CONTINUATION that is the last",
       frame(FrameType::headers, kEnd, 1, literal_block(get_lines())) +
           continuation(1, "", kWhole) + continuation(1, "", kWhole),
       kConnection, kProtocol},
      {"6.10", "CONTINUATION behind DATA", post(1) + data(1, "a") + continuation(1, "", kWhole),
       kConnection, kProtocol},
      {"9218 7.1", "PRIORITY_UPDATE of a stream",
       frame(FrameType::priority_update, 0, 1, u32(1) + "u=1"), kConnection, kProtocol},
      {"9218 7.1", "PRIORITY_UPDATE without an id", frame(FrameType::priority_update, 0, 0, "123"),
       kConnection, kFrameSize},
      {"9218 7.1", "PRIORITY_UPDATE of stream 0", priority_update(0, "u=1"), kConnection,
       kProtocol},
      {"9218 2.1", "NO_RFC7540_PRIORITIES of 2", settings({{9, 2}}), kConnection, kProtocol},
      {"8441 3", "ENABLE_CONNECT_PROTOCOL of 2", settings({{8, 2}}), kConnection, kProtocol},
      {"8441 3", "ENABLE_CONNECT_PROTOCOL taken back", settings({{8, 1}, {8, 0}}), kConnection,
       kProtocol},
  });
}

TEST(ServerConformance, Messages) {
  const Lines lines = get_lines();
  const Lines sized = with(post_lines(), {{"content-length", "4"}});
  run({
      {"8.1", "second HEADERS without END_STREAM", post(1) + headers(1, {{"x", "y"}}, kWhole),
       kStream, kProtocol},
      {"8.2.1", "name in upper case", request_of(with(lines, {{"X-Test", "1"}})), kStream,
       kProtocol},
      {"8.3", "unknown pseudo-field", request_of(with({{":test", "1"}}, lines)), kStream,
       kProtocol},
      {"8.3", "pseudo-field of responses", request_of(with({{":status", "200"}}, lines)), kStream,
       kProtocol},
      {"8.3", "pseudo-field in trailers", post(1) + headers(1, {{":method", "GET"}}, kWhole | kEnd),
       kStream, kProtocol},
      {"8.3", "pseudo-field behind a regular one",
       request_of(with(without(lines, ":path"), {{"x", "y"}, {":path", "/"}})), kStream, kProtocol},
      {"8.2.2", "connection-specific field",
       request_of(with(lines, {{"connection", "keep-alive"}})), kStream, kProtocol},
      {"8.2.2", "TE other than trailers", request_of(with(lines, {{"te", "trailers, deflate"}})),
       kStream, kProtocol},
      {"8.3.1", "empty :path", request_of(replaced(lines, ":path", "")), kStream, kProtocol},
      {"8.3.1", "no :method", request_of(without(lines, ":method")), kStream, kProtocol},
      {"8.3.1", "no :scheme", request_of(without(lines, ":scheme")), kStream, kProtocol},
      {"8.3.1", "no :path", request_of(without(lines, ":path")), kStream, kProtocol},
      {"8.3.1", "two :method", request_of(with({{":method", "GET"}}, lines)), kStream, kProtocol},
      {"8.3.1", "two :scheme", request_of(with({{":scheme", "http"}}, lines)), kStream, kProtocol},
      {"8.3.1", "two :path", request_of(with({{":path", "/"}}, lines)), kStream, kProtocol},
      {"8.1.1", "content-length longer than DATA", headers(1, sized) + data(1, "abc", kEnd),
       kStream, kProtocol},
      {"8.1.1", "content-length shorter than DATA", headers(1, sized) + data(1, "abcde", kEnd),
       kStream, kProtocol},
      {"8.1.1", "content-length shorter than several DATA",
       headers(1, sized) + data(1, "abc") + data(1, "abc", kEnd), kStream, kProtocol},
      {"8.1.1", "content-length longer than DATA before trailers",
       headers(1, sized) + data(1, "abc") + headers(1, {{"x", "y"}}, kWhole | kEnd), kStream,
       kProtocol},
      {"8.1.1", "content-length without DATA", headers(1, sized, kWhole | kEnd), kStream,
       kProtocol},
      {"8.4", "PUSH_PROMISE", frame(FrameType::push_promise, kWhole, 1, u32(2)), kConnection,
       kProtocol},
  });
}

// RFC 7541. The details are tested with the decoder; this is about what becomes of them.
TEST(ServerConformance, Compression) {
  const std::string good = literal_block(get_lines());
  const std::string indexed(
      "\x82\x86\x84\x41\x09"
      "a.example",
      14);
  run({
      {"7541 6.1", "indexed lines", raw_headers(1, indexed)},
      {"7541 6.2.3", "line that is never indexed", raw_headers(1, indexed + "\x10\x01x\x01y")},
      {"7541 6.3", "table size update in front", raw_headers(1, "\x20" + good)},
      {"7541 5.2", "Huffman text", raw_headers(1, "\x82\x86\x84\x41\x86\xa0\xe4\x1d\x13\x9d\x09")},
      {"7541 2.3.3", "index beyond both tables", raw_headers(1, good + "\xff\x00"), kConnection,
       kCompression},
      {"7541 2.3.3", "name index beyond both tables", raw_headers(1, good + "\x7f\x00\x01x"),
       kConnection, kCompression},
      {"7541 4.2", "table size update behind a line", raw_headers(1, good + "\x20"), kConnection,
       kCompression},
      {"7541 5.2", "Huffman padding over 7 bits",
       raw_headers(1, good + std::string("\x00\x85\xf2\xb2\x4a\x84\xff\x84\x49\x50\x9f\xff", 12)),
       kConnection, kCompression},
      {"7541 5.2", "Huffman padding of zeros",
       raw_headers(1, good + std::string("\x00\x85\xf2\xb2\x4a\x84\x00\x83\x49\x50\x90", 11)),
       kConnection, kCompression},
      {"7541 5.2", "Huffman EOS",
       raw_headers(1, good + std::string("\x00\x85\xf2\xb2\x4a\x84\xff\x84\xff\xff\xff\xff", 12)),
       kConnection, kCompression},
      {"7541 6.1", "index 0", raw_headers(1, good + "\x80"), kConnection, kCompression},
      {"7541 6.3", "table size update over the limit", raw_headers(1, "\x3f\xe2\x1f" + good),
       kConnection, kCompression},
  });
}

TEST(ServerConformance, RefusesWhatIsNoPreface) {
  for (const std::size_t piece : {std::size_t{1}, std::string_view::npos}) {
    Server server({}, false);
    const Result<> result = server.hear("INVALID CONNECTION PREFACE\r\n\r\n", piece);
    expect_failed(server, result, kProtocol);
  }
}

TEST(ServerConformance, WantsSettingsFirst) {
  for (const std::string& first : {get(1), ping("12345678"), settings_ack(), window_update(0, 1)}) {
    Server server({}, false);
    const Result<> result = server.hear(std::string(kPreface) + first);
    expect_failed(server, result, kProtocol);
  }
}

TEST(ServerConformance, RefusesMoreStreamsThanAdvertised) {
  Server server({.concurrent_streams = 2});
  ASSERT_TRUE(server.hear(get(1) + get(3) + get(5)));
  EXPECT_THAT(server.say(), ElementsAre("RST_STREAM 5 REFUSED_STREAM"));
  EXPECT_EQ(server.connection.counters().refused_streams, 1U);
  server.respond(1, 204);
  (void)server.say();
  (void)server.told();
  ASSERT_TRUE(server.hear(get(7)));
  EXPECT_THAT(server.told(), ElementsAre("request 7 GET / END"));
}

TEST(ServerConformance, KeepsToTheWindowOfTheStream) {
  Server server;
  ASSERT_TRUE(server.hear(settings({{4, 1}}) + get(1)));
  server.respond(1, 200, {.kind = http::BodyKind::sized, .bytes = 3});
  server.send(1, "abc");
  server.end(1);
  EXPECT_THAT(server.say(), Contains("DATA 1 a"));
  EXPECT_TRUE(server.stream(1).waits_for_window());
  EXPECT_FALSE(server.connection.has_output());
  ASSERT_TRUE(server.hear(window_update(1, 1)));
  EXPECT_THAT(server.say(), ElementsAre("DATA 1 b"));
  ASSERT_TRUE(server.hear(settings({{4, 2}})));
  EXPECT_THAT(server.say(), ElementsAre("SETTINGS ACK", "DATA 1 END c"));
}

TEST(ServerConformance, AWindowCanBecomeNegative) {
  Server server;
  ASSERT_TRUE(server.hear(settings({{4, 3}}) + get(1)));
  server.respond(1, 200, {.kind = http::BodyKind::streamed});
  server.send(1, "abcdef");
  EXPECT_THAT(server.say(), Contains("DATA 1 abc"));
  ASSERT_TRUE(server.hear(settings({{4, 2}})));  // Now -1.
  EXPECT_THAT(server.say(), ElementsAre("SETTINGS ACK"));
  ASSERT_TRUE(server.hear(window_update(1, 1)));
  EXPECT_THAT(server.say(), IsEmpty());
  ASSERT_TRUE(server.hear(window_update(1, 1)));
  EXPECT_THAT(server.say(), ElementsAre("DATA 1 d"));
}

TEST(ServerConformance, KeepsToTheWindowOfTheConnection) {
  Server server;
  ASSERT_TRUE(server.hear(settings({{4, 100'000}}) + get(1) + get(3)));
  for (const std::uint32_t id : {1U, 3U}) {
    server.respond(id, 200, {.kind = http::BodyKind::streamed});
    server.send(id, std::string(40'000, 'x'));
  }
  std::size_t bytes = 0;
  for (const std::string& line : server.say()) {
    if (line.starts_with("DATA ")) bytes += std::stoul(line.substr(7));
  }
  EXPECT_EQ(bytes, 65'535U);
  EXPECT_TRUE(server.connection.send_window_is_closed());
  EXPECT_FALSE(server.stream(1).waits_for_window());
  EXPECT_FALSE(server.connection.has_output());
  ASSERT_TRUE(server.hear(window_update(0, 5)));
  EXPECT_EQ(server.say().size(), 1U);
}

}  // namespace
}  // namespace titanium::http2
