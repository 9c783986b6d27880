// SPDX-License-Identifier: MIT
#include "origin/request_route.h"

#include <charconv>

#include "origin/grpc.h"

namespace titanium::probe {
namespace {

std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number > kMaxBodyBytes) return std::nullopt;
  return number;
}

RequestRoute early(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  const auto after = parse_number(text.substr(0, slash));
  if (!after) return {};
  RequestRoute route{.kind = RequestRoute::Kind::early, .number = *after};
  if (slash == std::string_view::npos) return route;
  route.answer_bytes = parse_number(text.substr(slash + 1));
  return route.answer_bytes ? route : RequestRoute{};
}

RequestRoute numbered(RequestRoute::Kind kind, std::string_view text) noexcept {
  const auto number = parse_number(text);
  if (!number) return {};
  return {.kind = kind, .number = *number};
}

}  // namespace

RequestRoute find_route(http::Method method, std::string_view path) noexcept {
  constexpr std::string_view kBytes = "/bytes/";
  constexpr std::string_view kEarly = "/early/";
  path = path.substr(0, path.find('?'));
  const bool reads = method == http::Method::get || method == http::Method::head;
  if (!reads && method != http::Method::post) return {};
  if (path == "/") return {.kind = RequestRoute::Kind::tiny};
  if (path.starts_with(kBytes)) {
    return numbered(RequestRoute::Kind::bytes, path.substr(kBytes.size()));
  }
  if (reads) {
    if (path == "/ws" && method == http::Method::get)
      return {.kind = RequestRoute::Kind::websocket};
    return {};
  }
  if (path == "/echo") return {.kind = RequestRoute::Kind::echo};
  if (path == kGrpcPath) return {.kind = RequestRoute::Kind::grpc};
  if (path.starts_with(kEarly)) return early(path.substr(kEarly.size()));
  return {};
}

}  // namespace titanium::probe
