// SPDX-License-Identifier: MIT
#include "http1/serializer.h"

#include <algorithm>

#include "base/assert.h"
#include "http1/queue_writer.h"

namespace titanium::http1 {
namespace {

using http::BodyKind;
using http::KnownField;

// Fields that are written from the members of a head, or not at all.
constexpr std::uint32_t kFromMembers = [] {
  std::uint32_t set = 0;
  for (const KnownField field :
       {KnownField::connection, KnownField::content_length, KnownField::expect, KnownField::host,
        KnownField::http2_settings, KnownField::keep_alive, KnownField::proxy_connection,
        KnownField::te, KnownField::transfer_encoding, KnownField::upgrade}) {
    set |= std::uint32_t{1} << std::to_underlying(field);
  }
  return set;
}();

// Whether `text` can stand in a start line. Codecs have checked it; should one ever be wrong, an
// empty text makes a head that every parser refuses, and a CR LF one that hides another message.
std::string_view start_line_text(std::string_view text) {
  const bool clean = std::ranges::all_of(
      text, [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
  TI_ASSERT(clean && "blank or control byte in a start line");
  return clean ? text : std::string_view{};
}

std::string_view value_text(std::string_view text) {
  const bool clean = http::is_field_value(text);
  TI_ASSERT(clean && "control byte in a field value");
  return clean ? text : std::string_view{};
}

// A field that was not parsed by our own HTTP/1 parser. The last line of defence, as above.
void put_checked_field(QueueWriter& out, const http::Field& field) {
  const bool clean = http::is_token(field.name) && http::is_field_value(field.value);
  TI_ASSERT(clean && "field that cannot be written");
  if (!clean) return;
  out.put_field(field.name, field.value);
}

// Writes the fields in their order. Lines that arrived in the form in which they leave, and next to
// each other, are one copy: for a typical head, that is almost all of it.
void put_fields(QueueWriter& out, const http::FieldList& fields, std::uint32_t skipped) {
  std::string_view run;
  for (const http::Field& field : fields) {
    if (field.dropped || (skipped >> std::to_underlying(field.known) & 1) != 0) continue;
    if (!field.line.empty() && field.line.data() == run.data() + run.size()) {
      run = {run.data(), run.size() + field.line.size()};
      continue;
    }
    out.put(run);
    run = field.line;
    if (field.line.empty()) put_checked_field(out, field);
  }
  out.put(run);
}

void put_content_length(QueueWriter& out, std::uint64_t bytes) {
  out.put("Content-Length: ");
  out.put_number(bytes);
  out.put("\r\n");
}

void put_upgrade(QueueWriter& out, std::string_view protocols) {
  out.put("Upgrade: ");
  out.put(value_text(protocols));
  out.put("\r\n");
}

void put_request_line(QueueWriter& out, const http::RequestHead& head) {
  out.put(start_line_text(head.method_text));
  out.put(" ");
  // RFC 9112 §3.2.3: the target of CONNECT is the authority alone.
  const bool is_connect = head.method == http::Method::connect;
  out.put(start_line_text(is_connect ? head.authority : head.path));
  out.put(" HTTP/1.1\r\nHost: ");
  out.put(start_line_text(head.authority));
  out.put("\r\n");
}

// What the members of a request ask for. Connection has to name TE and Upgrade (RFC 9110 §10.1.4,
// §7.8), since both are meant for the next hop only.
void put_request_connection(QueueWriter& out, const http::RequestHead& head) {
  const bool upgrades = !head.upgrade.empty();
  if (upgrades && head.accepts_trailers) {
    out.put("Connection: upgrade, TE\r\nTE: trailers\r\n");
  } else if (upgrades) {
    out.put("Connection: upgrade\r\n");
  } else if (head.accepts_trailers) {
    out.put("Connection: TE\r\nTE: trailers\r\n");
  }
  if (upgrades) put_upgrade(out, head.upgrade);
  if (head.expects_continue) out.put("Expect: 100-continue\r\n");
}

void put_status_line(QueueWriter& out, const http::ResponseHead& head) {
  TI_ASSERT(head.status >= 100 && head.status <= 999);
  if (head.status == 200 && (head.reason.empty() || head.reason == "OK")) {
    out.put("HTTP/1.1 200 OK\r\n");
    return;
  }
  out.put("HTTP/1.1 ");
  out.put_number(head.status);
  out.put(" ");
  // HTTP/2 has no reason phrase, and some HTTP/1 clients want one.
  out.put(head.reason.empty() ? http::reason_phrase(head.status) : value_text(head.reason));
  out.put("\r\n");
}

// Writes how the body of a final response is framed.
Framing put_response_framing(QueueWriter& out, const http::ResponseHead& head,
                             http::Version client_version) {
  switch (head.body.kind) {
    case BodyKind::none:
      if (head.declared_length && head.status != 204) {
        put_content_length(out, *head.declared_length);
      }
      return Framing::none;
    case BodyKind::sized:
      put_content_length(out, head.body.bytes);
      return Framing::fixed;
    case BodyKind::streamed:
      // RFC 9112 §6.1: not to a client that does not know it.
      if (client_version == http::Version::http10) return Framing::until_close;
      out.put("Transfer-Encoding: chunked\r\n");
      return Framing::chunked;
    case BodyKind::tunnel:
      return Framing::tunnel;
  }
  return Framing::none;
}

// 204 and 304 have no body, whatever the members say (RFC 9112 §6.3 item 1); but a 204 to CONNECT
// opens the tunnel like any other 2xx.
bool ends_with_its_head(const http::ResponseHead& head) {
  const bool has_body = head.body.kind == BodyKind::sized || head.body.kind == BodyKind::streamed;
  return (head.status == 204 || head.status == 304) && has_body;
}

void put_after_response(QueueWriter& out, AfterResponse after) {
  switch (after) {
    case AfterResponse::keep_alive:
      return;
    case AfterResponse::keep_alive_http10:
      return out.put("Connection: keep-alive\r\n");
    case AfterResponse::close:
      return out.put("Connection: close\r\n");
  }
}

}  // namespace

void write_request_head(ChunkQueue& queue, const http::RequestHead& head) {
  QueueWriter out(queue);
  put_request_line(out, head);
  put_fields(out, head.fields, kFromMembers);
  put_request_connection(out, head);
  if (head.body.kind == BodyKind::sized) put_content_length(out, head.body.bytes);
  if (head.body.kind == BodyKind::streamed) out.put("Transfer-Encoding: chunked\r\n");
  out.put("\r\n");
}

Framing write_response_head(ChunkQueue& queue, const http::ResponseHead& head,
                            http::Version client_version, AfterResponse after) {
  QueueWriter out(queue);
  put_status_line(out, head);
  put_fields(out, head.fields, kFromMembers);
  Framing framing = Framing::none;
  if (head.status == 101) {
    out.put("Connection: upgrade\r\n");
    put_upgrade(out, head.upgrade);
    framing = Framing::tunnel;
  } else if (head.status >= 200) {
    framing =
        ends_with_its_head(head) ? Framing::none : put_response_framing(out, head, client_version);
    put_after_response(out, after);
  }
  out.put("\r\n");
  return framing;
}

void write_chunk(ChunkQueue& queue, ChunkQueue& data) {
  if (data.empty()) return;
  {
    QueueWriter out(queue);
    out.put_number(data.size(), 16);
    out.put("\r\n");
    if (data.size() <= ChunkQueue::kCopyBytes) {
      // Short data is copied, so that a small chunk is one piece for writev(2) and not three.
      while (!data.empty()) {
        out.put(as_text(data.front()));
        data.consume(data.front().size());
      }
      out.put("\r\n");
      return;
    }
  }
  queue.append(data);
  queue.append("\r\n");
}

void write_last_chunk(ChunkQueue& queue, const http::FieldList& trailers) {
  QueueWriter out(queue);
  out.put("0\r\n");
  put_fields(out, trailers, kFromMembers);
  out.put("\r\n");
}

}  // namespace titanium::http1
