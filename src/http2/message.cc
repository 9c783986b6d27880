// SPDX-License-Identifier: MIT
#include "http2/message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/assert.h"
#include "base/try.h"
#include "http/scan.h"
#include "http/uri.h"
#include "http2/message_fields.h"

namespace titanium::http2 {
namespace {

using http::BodyKind;
using http::KnownField;

// The longest registered method has 17 bytes (RFC 4437).
constexpr std::size_t kMaxMethodBytes = 64;

std::unexpected<Error> bad_request(std::string_view what) { return malformed(what, Side::client); }
std::unexpected<Error> bad_response(std::string_view what) { return malformed(what, Side::origin); }

constexpr std::uint16_t default_port(std::string_view scheme) {
  return scheme == "https" ? 443 : 80;
}

Result<> read_method(std::string_view method, http::RequestHead& head) {
  if (!http::is_token(method) || method.size() > kMaxMethodBytes) return bad_request("bad :method");
  head.method_text = method;
  head.method = http::find_method(method);
  return {};
}

Result<> read_scheme(std::string_view scheme, http::RequestHead& head) {
  if (http::equals_ignore_case(scheme, "https")) {
    head.scheme = "https";
  } else if (http::equals_ignore_case(scheme, "http")) {
    head.scheme = "http";
  } else {
    return bad_request(":scheme is neither http nor https");
  }
  return {};
}

Result<> read_path(std::string_view path, http::RequestHead& head) {
  // RFC 9113 §8.3.1: "*" asks about the server as a whole.
  const bool is_asterisk = path == "*" && head.method == http::Method::options;
  if (!is_asterisk && !http::check_origin_form(path)) return bad_request("bad :path");
  head.path = path;
  return {};
}

// RFC 9113 §8.3.1: one of :authority and Host, and if there are both, the same.
Result<> read_authority(std::string_view authority, std::string_view host,
                        http::RequestHead& head) {
  if (authority.data() == nullptr) authority = host;
  if (authority.data() == nullptr) return bad_request("no :authority");
  const auto parsed = http::parse_authority(authority);
  if (!parsed) return bad_request("bad :authority");
  if (host.data() != nullptr && host != authority) {
    const auto other = http::parse_authority(host);
    const std::uint16_t port = default_port(head.scheme);
    if (!other || !http::equals_ignore_case(parsed->host, other->host) ||
        parsed->port.value_or(port) != other->port.value_or(port)) {
      return bad_request("host differs from :authority");
    }
  }
  head.authority = authority;
  return {};
}

// RFC 9113 §8.5: a tunnel to :authority, which needs a port.
Result<> read_connect(const PseudoFields& pseudo, const FieldFacts& facts,
                      http::RequestHead& head) {
  if (pseudo.scheme.data() != nullptr || pseudo.path.data() != nullptr) {
    return bad_request("CONNECT with :scheme or :path");
  }
  if (pseudo.authority.data() == nullptr) return bad_request("CONNECT without :authority");
  const auto target = http::parse_authority(pseudo.authority);
  if (!target || !target->port) return bad_request("bad :authority of CONNECT");
  if (facts.host.data() != nullptr) {
    // Clients often leave the port out of Host.
    const auto host = http::parse_authority(facts.host);
    if (!host || !http::equals_ignore_case(host->host, target->host) ||
        host->port.value_or(*target->port) != *target->port) {
      return bad_request("host differs from :authority");
    }
  }
  head.scheme = "http";  // As HTTP/1 has it: a CONNECT says nothing about it.
  head.authority = pseudo.authority;
  return {};
}

// RFC 8441 §4: a request with everything that a GET has, which becomes one.
Result<> read_extended_connect(std::string_view protocol, bool is_allowed,
                               http::RequestHead& head) {
  if (!is_allowed) return bad_request(":protocol, which was not offered");
  if (head.method != http::Method::connect) return bad_request(":protocol without CONNECT");
  // `h2c` is not passed on: an origin that still accepts it would open a tunnel in which requests
  // pass all our rules by (RFC 9113 §3.1).
  if (!http::is_token(protocol) || http::equals_ignore_case(protocol, "h2c")) {
    return bad_request("bad :protocol");
  }
  head.method = http::Method::get;
  head.method_text = "GET";
  head.upgrade = protocol;
  return {};
}

Result<> read_target(const PseudoFields& pseudo, const FieldFacts& facts, bool extended_connect,
                     http::RequestHead& head) {
  if (pseudo.method.data() == nullptr) return bad_request("no :method");
  TI_TRY(read_method(pseudo.method, head));
  if (pseudo.protocol.data() != nullptr) {
    TI_TRY(read_extended_connect(pseudo.protocol, extended_connect, head));
  } else if (head.method == http::Method::connect) {
    return read_connect(pseudo, facts, head);
  }
  if (pseudo.scheme.data() == nullptr) return bad_request("no :scheme");
  if (pseudo.path.data() == nullptr) return bad_request("no :path");
  TI_TRY(read_scheme(pseudo.scheme, head));
  TI_TRY(read_authority(pseudo.authority, facts.host, head));
  return read_path(pseudo.path, head);
}

Result<> read_body(const FieldFacts& facts, bool ended, http::RequestHead& head) {
  // RFC 9110 §9.3.6: without a meaning, so that the next hop may take it for tunnelled bytes.
  const bool is_tunnel = head.method == http::Method::connect || !head.upgrade.empty();
  if (is_tunnel && facts.content_length.value_or(0) != 0) {
    return bad_request("CONNECT with a content-length");
  }
  if (ended && facts.content_length.value_or(0) != 0) {
    return bad_request("content-length without a body");
  }
  if (head.method == http::Method::connect) {
    head.body = {.kind = BodyKind::tunnel};
  } else if (ended || is_tunnel) {
    head.body = {};
  } else if (facts.content_length) {
    head.body = {.kind = BodyKind::sized, .bytes = *facts.content_length};
  } else {
    head.body = {.kind = BodyKind::streamed};
  }
  return {};
}

Result<> read_expectation(const FieldFacts& facts, http::RequestHead& head) {
  if (facts.expects_other) {
    return std::unexpected(Error{.code = Code::unsupported,
                                 .side = Side::client,
                                 .status = 417,
                                 .what = "unknown expectation"});
  }
  // Without a body there is nothing to wait for.
  head.expects_continue =
      facts.expects_continue && !head.body.is_empty() && head.body.kind != BodyKind::tunnel;
  return {};
}

// Whatever has no meaning beyond our connection; the members of the head say it.
void drop_connection_fields(http::FieldList& fields) {
  for (const KnownField field : {KnownField::te, KnownField::http2_settings}) fields.drop(field);
}

Result<> read_status(std::string_view text, http::ResponseHead& head) {
  // RFC 9110 §15: 100-599. Nothing else has a meaning.
  const bool is_status = text.size() == 3 && std::ranges::all_of(text, http::is_digit) &&
                         text.front() >= '1' && text.front() <= '5';
  if (!is_status) return bad_response("bad :status");
  head.status =
      static_cast<std::uint16_t>((text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0'));
  return {};
}

Result<> read_response_body(const FieldFacts& facts, bool ended, http::Method method,
                            http::ResponseHead& head) {
  if (head.status < 200) {
    // RFC 9113 §8.1: an interim response is not the last one.
    if (ended) return bad_response("interim response ends the stream");
    return {};
  }
  if (method == http::Method::connect && head.status < 300) {
    head.body = {.kind = BodyKind::tunnel};
  } else if (!http::may_have_body(method, head.status)) {
    head.body = {};
    // RFC 9110 §8.6: what the body would have been. In a 204 the field must not be, and is lost.
    if (head.status != 204) head.declared_length = facts.content_length;
  } else if (ended) {
    if (facts.content_length.value_or(0) != 0) return bad_response("content-length without a body");
    head.body = {.kind = BodyKind::sized, .bytes = 0};
  } else if (facts.content_length) {
    head.body = {.kind = BodyKind::sized, .bytes = *facts.content_length};
  } else {
    head.body = {.kind = BodyKind::streamed};
  }
  return {};
}

// Fields that are written from the members of a head, or not at all.
constexpr std::uint32_t kNotFromList = [] {
  std::uint32_t set = 0;
  for (const KnownField field :
       {KnownField::connection, KnownField::content_length, KnownField::expect, KnownField::host,
        KnownField::http2_settings, KnownField::keep_alive, KnownField::proxy_connection,
        KnownField::te, KnownField::transfer_encoding, KnownField::upgrade}) {
    set |= std::uint32_t{1} << std::to_underlying(field);
  }
  return set;
}();

// RFC 8441 §5: extended CONNECT needs none of the proof that HTTP/1 asks for.
bool is_http1_handshake(std::string_view name) {
  return http::equals_ignore_case(name, "sec-websocket-key") ||
         http::equals_ignore_case(name, "sec-websocket-accept");
}

class BlockWriter {
 public:
  BlockWriter(HpackEncoder& encoder, std::string& out) : encoder_(encoder), out_(out) {
    encoder_.begin_block(out_);
  }
  void add(std::string_view name, std::string_view value, KnownField known = KnownField::other) {
    encoder_.add(out_, name, value, known);
  }
  void add_content_length(std::uint64_t bytes) {
    std::array<char, 20> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), bytes).ptr;
    add("content-length", {text.data(), end}, KnownField::content_length);
  }
  void add_fields(const http::FieldList& fields, bool is_upgrade = false) {
    for (const http::Field& field : fields) {
      if (field.dropped || (kNotFromList >> std::to_underlying(field.known) & 1) != 0) continue;
      if (is_upgrade && is_http1_handshake(field.name)) continue;
      encoder_.add(out_, field.name, field.value, field.known,
                   field.never_indexed ? Indexing::never : Indexing::automatic);
    }
  }

 private:
  HpackEncoder& encoder_;
  std::string& out_;
};

}  // namespace

Result<> read_request(FieldBlock& block, bool ended, bool extended_connect,
                      http::RequestHead& head) {
  head.clear();
  head.version = http::Version::http2;
  PseudoFields pseudo;
  FieldFacts facts;
  TI_TRY(read_fields(block, Section::request, Side::client, pseudo, facts, head.fields));
  TI_TRY(read_target(pseudo, facts, extended_connect, head));
  TI_TRY(read_body(facts, ended, head));
  head.accepts_trailers = facts.accepts_trailers;
  drop_connection_fields(head.fields);
  return read_expectation(facts, head);
}

Result<> read_response(FieldBlock& block, bool ended, http::Method request_method, bool upgraded,
                       http::ResponseHead& head) {
  head.clear();
  head.version = http::Version::http2;
  PseudoFields pseudo;
  FieldFacts facts;
  TI_TRY(read_fields(block, Section::response, Side::origin, pseudo, facts, head.fields));
  if (pseudo.status.data() == nullptr) return bad_response("no :status");
  TI_TRY(read_status(pseudo.status, head));
  drop_connection_fields(head.fields);
  // RFC 9113 §8.6: HTTP/2 has no 101; what it stands for in our heads is decided here.
  if (head.status == 101) return bad_response("101 in HTTP/2");
  if (upgraded && head.status >= 200 && head.status < 300) {
    head.status = 101;
    head.body = {.kind = BodyKind::tunnel};
    return {};
  }
  return read_response_body(facts, ended, request_method, head);
}

Result<> read_trailers(FieldBlock& block, Side peer, http::FieldList& trailers) {
  trailers.clear();
  PseudoFields pseudo;
  FieldFacts facts;
  TI_TRY(read_fields(block, Section::trailers, peer, pseudo, facts, trailers));
  for (http::Field& field : trailers) field.dropped = !http::may_be_trailer(field);
  return {};
}

void write_request(HpackEncoder& encoder, const http::RequestHead& head, std::string& out) {
  BlockWriter writer(encoder, out);
  const bool is_upgrade = !head.upgrade.empty();
  writer.add(":method", is_upgrade ? "CONNECT" : head.method_text);
  if (is_upgrade) {
    // One protocol: the client's first choice.
    std::string_view list = head.upgrade;
    std::string_view protocol;
    (void)http::next_list_element(list, protocol);
    writer.add(":protocol", protocol);
  }
  if (is_upgrade || head.method != http::Method::connect) {
    writer.add(":scheme", head.scheme);
    writer.add(":path", head.path);
  }
  writer.add(":authority", head.authority);
  writer.add_fields(head.fields, is_upgrade);
  if (head.body.kind == BodyKind::sized) writer.add_content_length(head.body.bytes);
  if (head.accepts_trailers) writer.add("te", "trailers", KnownField::te);
  if (head.expects_continue) writer.add("expect", "100-continue", KnownField::expect);
}

void write_response(HpackEncoder& encoder, const http::ResponseHead& head, std::string& out) {
  TI_ASSERT(head.status >= 100 && head.status <= 999);
  BlockWriter writer(encoder, out);
  // RFC 8441 §5: a tunnel is opened by a 2xx.
  const unsigned status = head.status == 101 ? 200 : head.status;
  const std::array<char, 3> digits = {static_cast<char>('0' + status / 100 % 10),
                                      static_cast<char>('0' + status / 10 % 10),
                                      static_cast<char>('0' + status % 10)};
  writer.add(":status", {digits.data(), digits.size()});
  writer.add_fields(head.fields, head.status == 101);
  if (head.status < 200) return;
  if (head.body.kind == BodyKind::sized) {
    writer.add_content_length(head.body.bytes);
  } else if (head.body.kind == BodyKind::none && head.declared_length && head.status != 204) {
    writer.add_content_length(*head.declared_length);
  }
}

void write_trailers(HpackEncoder& encoder, const http::FieldList& trailers, std::string& out) {
  BlockWriter writer(encoder, out);
  writer.add_fields(trailers);
}

}  // namespace titanium::http2
