// SPDX-License-Identifier: MIT
//
// Where our server and nghttp2's may differ, and why. Whatever is not in these lists is a finding.
//
// Kept out by how both are set up, and so not in the lists:
// - Our budgets against floods, and nghttp2's: out of reach (see differential_options()).
// - nghttp2 leaves bad field lines out unless it is told to refuse them. It is told.
// - nghttp2 hears nothing more when GOAWAY was said by either side and no stream is left. The
//   comparison ends there.
// - Our limits of field lists (431), and nghttp2's 64 KiB of a block: out of reach.
#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "client.h"
#include "http/scan.h"
#include "http/uri.h"
#include "servers.h"

namespace titanium::fuzz {

struct Situation {
  const Step& step;
  const Exchange& ours;
  const Exchange& theirs;
  const Client& client;
  std::size_t our_streams;    // Before the step.
  std::size_t their_streams;  // The same.
};

struct Difference {
  std::string_view reason;
  bool (*applies)(const Situation&);
};

template <std::size_t N>
const Difference* find_reason(const std::array<Difference, N>& list, const Situation& situation) {
  const auto found = std::ranges::find_if(
      list, [&](const Difference& difference) { return difference.applies(situation); });
  return found == list.end() ? nullptr : &*found;
}

inline bool is_type(const Step& step, FrameType type) {
  return step.header.type == std::to_underlying(type);
}
inline std::uint32_t number_at(const Step& step, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<std::uint8_t>(step.payload[at + i]);
  }
  return value;
}

inline bool depends_on_itself(const Step& step) {
  return is_type(step, FrameType::priority) && step.header.length == 5 &&
         (number_at(step, 0) & 0x7fff'ffff) == step.header.stream_id;
}

inline bool has_setting_twice(std::string_view payload) {
  std::set<std::string_view> seen;
  for (; payload.size() >= 6; payload.remove_prefix(6)) {
    if (!seen.insert(payload.substr(0, 2)).second) return true;
  }
  return false;
}

// ---- The connection ends in ours only.

inline constexpr auto kOnlyOursFails = std::to_array<Difference>({
    {"RFC 9113 §5.1.1: a new stream has a higher id than all before. nghttp2 ignores HEADERS "
     "on an id that was left out.",
     [](const Situation& s) { return s.step.ends_block && s.step.was_skipped; }},
    {"RFC 9113 §5.1: HEADERS on a closed stream. nghttp2 ignores them when it has forgotten "
     "the stream, and we do when we have reset it.",
     [](const Situation& s) {
       return s.step.ends_block && s.step.had_ended && s.ours.closed && s.theirs.closed;
     }},
    {"RFC 9218 §7.1: PRIORITY_UPDATE. nghttp2 takes it for an unknown frame unless it is told "
     "to know it.",
     [](const Situation& s) { return is_type(s.step, FrameType::priority_update); }},
    {"RFC 9113 §6.3: PRIORITY names a stream. nghttp2 does not look, as both have said that "
     "they do without these priorities.",
     [](const Situation& s) {
       return is_type(s.step, FrameType::priority) && s.step.header.stream_id == 0;
     }},
    {"RFC 7540 §5.3.1: no stream depends on itself. nghttp2 does not look, as above; and a "
     "stream that is idle can not be reset.",
     [](const Situation& s) { return s.step.is_idle && depends_on_itself(s.step); }},
    {"RFC 9113 §6.5.3: settings are processed in order. Of one that comes twice, nghttp2 looks "
     "at the last value only.",
     [](const Situation& s) {
       return is_type(s.step, FrameType::settings) && has_setting_twice(s.step.payload);
     }},
    {"RFC 9113 §6.1: padding is as long as its frame at most. nghttp2 does not look into DATA "
     "of a stream that is closed, or that came after GOAWAY.",
     [](const Situation& s) {
       const std::string_view payload = s.step.payload;
       return is_type(s.step, FrameType::data) && (s.theirs.closed || !s.theirs.accepted) &&
              s.step.header.has(http2::flag::kPadded) &&
              (payload.empty() || static_cast<std::uint8_t>(payload[0]) >= payload.size());
     }},
});

// ---- The connection ends in nghttp2 only.

inline constexpr auto kOnlyTheirsFails = std::to_array<Difference>({
    {"RFC 9113 §5.1: frames behind END_STREAM are an error of the stream; nghttp2 ends the "
     "connection.",
     [](const Situation& s) {
       return s.step.had_ended &&
              (is_type(s.step, FrameType::data) || is_type(s.step, FrameType::headers));
     }},
    {"RFC 9113 §6.3: PRIORITY of a wrong size is an error of the stream; nghttp2 ends the "
     "connection.",
     [](const Situation& s) {
       return is_type(s.step, FrameType::priority) && s.step.header.length != 5;
     }},
    {"RFC 7540 §5.3.1: a stream that depends on itself is an error of the stream; nghttp2 ends "
     "the connection for HEADERS, though not for PRIORITY.",
     [](const Situation& s) { return s.client.depends_on_itself(); }},
    {"RFC 9113 §6.9: an increment of zero is an error of the stream; nghttp2 ends the "
     "connection.",
     [](const Situation& s) {
       return is_type(s.step, FrameType::window_update) && s.step.header.length == 4 &&
              s.step.header.stream_id != 0 && (number_at(s.step, 0) & 0x7fff'ffff) == 0;
     }},
    {"RFC 9113 §6.5 does not say what a SETTINGS ACK too many is; for us, a frame without "
     "effect.",
     [](const Situation& s) {
       return is_type(s.step, FrameType::settings) && s.step.header.has(http2::flag::kAck) &&
              s.client.acknowledged > 1;
     }},
    {"RFC 9113 §6.8: the last id in a client's GOAWAY is that of a pushed stream. We push "
     "none, and do not look.",
     [](const Situation& s) {
       return is_type(s.step, FrameType::goaway) && s.step.header.length >= 8 &&
              (number_at(s.step, 0) & 0x7fff'ffff) != 0;
     }},
    {"RFC 9113 §5.1.2: a stream over the limit is an error of the stream; nghttp2 ends the "
     "connection once its SETTINGS are acknowledged.",
     [](const Situation& s) {
       return s.step.ends_block && s.step.is_new && s.their_streams >= kStreams;
     }},
    {"RFC 9218 §2.1: who changes NO_RFC7540_PRIORITIES may be refused. It means nothing to us.",
     [](const Situation& s) {
       return is_type(s.step, FrameType::settings) && s.client.changed_priorities;
     }},
});

// ---- A stream ends, or is refused, in ours only. The head or the trailers decide.

inline const std::string* value_of(const test::FieldLines& lines, std::string_view name) {
  const auto line = std::ranges::find(lines, name, &test::FieldLine::name);
  return line == lines.end() ? nullptr : &line->value;
}
inline bool is_plain_connect(const test::FieldLines& lines) {
  const std::string* method = value_of(lines, ":method");
  return method != nullptr && *method == "CONNECT" && value_of(lines, ":protocol") == nullptr;
}
inline bool opens(const Situation& s) { return s.step.ends_block && s.step.is_new; }

inline constexpr auto kOnlyOursRefuses = std::to_array<Difference>({
    {"RFC 9113 §5.1: frames on a closed stream are an error or ignored. We reset it once more, "
     "nghttp2 ignores them.",
     [](const Situation& s) {
       return s.theirs.closed && (s.step.had_ended || s.step.had_reset) &&
              s.ours.reset == NGHTTP2_STREAM_CLOSED;
     }},
    {"A limit of streams that nghttp2 has not reached: where windows are short, answers leave "
     "in an order of each server's own.",
     [](const Situation& s) { return opens(s) && s.our_streams >= kStreams; }},
    {"RFC 7540 §5.3.1: no stream depends on itself, as above.",
     [](const Situation& s) {
       return depends_on_itself(s.step) || (s.step.ends_block && s.client.depends_on_itself());
     }},
    {"Stricter than RFC 9113 §8.3.1: we proxy http and https only.",
     [](const Situation& s) {
       const std::string* scheme = value_of(s.step.lines, ":scheme");
       return opens(s) && scheme != nullptr && !http::equals_ignore_case(*scheme, "http") &&
              !http::equals_ignore_case(*scheme, "https");
     }},
    {"RFC 9113 §8.3.1: :path is an origin form, byte by byte (RFC 3986 §3.3), or * of OPTIONS.",
     [](const Situation& s) {
       const std::string* path = value_of(s.step.lines, ":path");
       return opens(s) && path != nullptr && !http::check_origin_form(*path);
     }},
    {"RFC 9113 §8.3.1: :authority is a host with a port, without userinfo; of CONNECT with a "
     "port.",
     [](const Situation& s) {
       const std::string* authority = value_of(s.step.lines, ":authority");
       if (authority == nullptr) authority = value_of(s.step.lines, "host");
       if (!opens(s) || authority == nullptr) return false;
       const auto parsed = http::parse_authority(*authority);
       return !parsed || (is_plain_connect(s.step.lines) && !parsed->port);
     }},
    {"RFC 9113 §8.3.1: host and :authority that differ may be refused.",
     [](const Situation& s) {
       const std::string* authority = value_of(s.step.lines, ":authority");
       const std::string* host = value_of(s.step.lines, "host");
       return opens(s) && authority != nullptr && host != nullptr && *authority != *host;
     }},
    {"RFC 9110 §9.1: a method is a token. Ours has 64 bytes at most.",
     [](const Situation& s) {
       const std::string* method = value_of(s.step.lines, ":method");
       return opens(s) && method != nullptr && (!http::is_token(*method) || method->size() > 64);
     }},
    {"RFC 8441 §4: :protocol is a token, and h2c would hide requests from us.",
     [](const Situation& s) {
       const std::string* protocol = value_of(s.step.lines, ":protocol");
       return opens(s) && protocol != nullptr &&
              (!http::is_token(*protocol) || http::equals_ignore_case(*protocol, "h2c"));
     }},
    {"RFC 9110 §9.3.6: content of a CONNECT has no meaning, so that a length of it is refused.",
     [](const Situation& s) {
       const std::string* method = value_of(s.step.lines, ":method");
       const std::string* length = value_of(s.step.lines, "content-length");
       return opens(s) && method != nullptr && *method == "CONNECT" && length != nullptr &&
              *length != "0";
     }},
    {"Stricter than RFC 9110 §8.6: a content-length has 20 digits at most, zeros in front "
     "included.",
     [](const Situation& s) {
       const std::string* length = value_of(s.step.lines, "content-length");
       return opens(s) && length != nullptr && length->size() > 20;
     }},
    {"RFC 9110 §10.1.1: an unknown expectation is answered with 417.",
     [](const Situation& s) {
       const std::string* expect = value_of(s.step.lines, "expect");
       return opens(s) && s.ours.refused && expect != nullptr;
     }},
});

// ---- A stream ends in nghttp2 only.

inline constexpr auto kOnlyTheirsRefuses = std::to_array<Difference>({
    {"A limit of streams that we have not reached: the same the other way round.",
     [](const Situation& s) { return opens(s) && s.their_streams >= kStreams; }},
    {"RFC 9110 §6.5.1: content-length and host mean nothing in trailers; we drop them there, "
     "and nghttp2 takes them for those of the head.",
     [](const Situation& s) {
       return s.step.ends_block && !s.step.is_new &&
              (value_of(s.step.lines, "content-length") != nullptr ||
               value_of(s.step.lines, "host") != nullptr);
     }},
});

}  // namespace titanium::fuzz
