// SPDX-License-Identifier: MIT
#include "proxy/generated_answer.h"

#include <fmt/core.h>

#include <cerrno>
#include <iterator>

namespace titanium::proxy {

std::uint16_t status_of(const Error& error) noexcept {
  if (error.status != 0) return error.status;
  switch (error.code) {
    case Code::protocol:
      return error.side == Side::client ? 400 : 502;
    case Code::unsupported:
      return error.side == Side::client ? 501 : 502;
    case Code::limit:
      return error.side == Side::client ? 413 : 502;
    case Code::closed:
    case Code::reset:
    case Code::refused:
      return error.side == Side::client ? 400 : 502;
    case Code::timed_out:
      return error.side == Side::client ? 408 : 504;
    case Code::unavailable:
      return error.side == Side::origin ? 502 : 503;
    case Code::tls:
    case Code::certificate:
      return 502;
    case Code::loop:
      return 508;
    case Code::config:
    case Code::internal:
      break;
  }
  return 500;
}

namespace {

std::string_view unavailable_type(const Error& error) noexcept {
  if (error.side != Side::origin) return "destination_unavailable";
  switch (error.native) {
    case ECONNREFUSED:
      return "connection_refused";
    case ETIMEDOUT:
      return "connection_timeout";
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EADDRNOTAVAIL:
    case EACCES:
    case EPERM:
      return "destination_ip_unroutable";
    case ECONNRESET:
    case EPIPE:
      return "connection_terminated";
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
      return "connection_limit_reached";
    default:
      return "dns_error";  // The native codes of the resolver are no errno.
  }
}

}  // namespace

std::string_view proxy_status_type(const Error& error) noexcept {
  switch (error.code) {
    case Code::loop:
      return "proxy_loop_detected";
    case Code::timed_out:
      if (error.side == Side::client) return "http_request_error";
      return error.retry == Retry::always ? "connection_timeout" : "http_response_timeout";
    case Code::unavailable:
      return unavailable_type(error);
    case Code::closed:
    case Code::reset:
    case Code::refused:
      return error.side == Side::client ? "http_request_error" : "connection_terminated";
    case Code::limit:
    case Code::unsupported:
    case Code::protocol:
      if (error.side == Side::client) {
        return error.status == 404 ? "destination_not_found" : "http_request_error";
      }
      return "http_protocol_error";
    case Code::tls:
      return "tls_protocol_error";
    case Code::certificate:
      return "tls_certificate_error";
    case Code::config:
      return "proxy_configuration_error";
    case Code::internal:
      break;
  }
  return "proxy_internal_error";
}

void make_answer(const Error& error, std::string_view proxy_name, std::string_view where,
                 http::ResponseHead& head, AnswerTexts& texts) {
  const std::uint16_t status = status_of(error);
  const std::string_view reason = http::reason_phrase(status);

  texts.body.clear();
  auto body = std::back_inserter(texts.body);
  fmt::format_to(body, "{} {}\n{}", status, reason, error.what);
  if (!where.empty()) fmt::format_to(body, " (origin {})", where);
  texts.body += '\n';

  texts.proxy_status.clear();
  // `what` is a literal of ours or of a library: it has neither quotes nor backslashes.
  fmt::format_to(std::back_inserter(texts.proxy_status), "{}; error={}; details=\"{}\"", proxy_name,
                 proxy_status_type(error), error.what);

  head.clear();
  head.status = status;
  head.reason = reason;
  head.body = {.kind = http::BodyKind::sized, .bytes = texts.body.size()};
  head.fields.add("Content-Type", "text/plain; charset=utf-8");
  head.fields.add("Cache-Control", "no-store");
  head.fields.add("Proxy-Status", texts.proxy_status);
}

}  // namespace titanium::proxy
