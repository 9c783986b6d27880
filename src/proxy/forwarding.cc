// SPDX-License-Identifier: MIT
#include "proxy/forwarding.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace titanium::proxy {
namespace {

constexpr std::string_view kViaName = "Via";
constexpr std::string_view kViaVersions[] = {"1.0", "1.1", "2", "3"};

// A field whose line is already written: "name: value\r\n".
http::Field made_field(std::string_view line, std::size_t name_bytes, http::KnownField known) {
  return {.name = line.substr(0, name_bytes),
          .value = line.substr(name_bytes + 2, line.size() - name_bytes - 4),
          .line = line,
          .known = known};
}

// Adds to `storage` without ever moving it, so that views into it stay valid.
class TextMaker {
 public:
  explicit TextMaker(std::string& storage) : storage_(storage), begin_(storage.size()) {}
  TextMaker& add(std::string_view text) {
    storage_ += text;
    return *this;
  }
  [[nodiscard]] std::string_view finish() const {
    return std::string_view(storage_).substr(begin_);
  }

 private:
  std::string& storage_;
  std::size_t begin_;
};

// Bytes of all values of `known` fields, with separators.
std::size_t joined_bytes(const http::FieldList& fields, http::KnownField known) {
  std::size_t bytes = 0;
  for (const auto& field : fields) {
    if (field.known == known && !field.dropped) bytes += field.value.size() + 2;
  }
  return bytes;
}

void add_joined(TextMaker& text, const http::FieldList& fields, http::KnownField known) {
  for (const auto& field : fields) {
    if (field.known == known && !field.dropped) text.add(field.value).add(", ");
  }
}

}  // namespace

ForwardingRules::ForwardingRules(const Forwarding& options)
    : options_(options), name_(options.via_pseudonym.empty() ? "titanium" : options.via_pseudonym) {
  if (options.via_pseudonym.empty()) return;
  for (std::size_t i = 0; i < std::size(kViaVersions); ++i) {
    via_lines_[i] =
        std::string("Via: ") + std::string(kViaVersions[i]) + " " + options.via_pseudonym + "\r\n";
  }
}

Result<> ForwardingRules::check_loop(const http::RequestHead& head) const {
  if (options_.via_pseudonym.empty() || !head.fields.has(http::KnownField::via)) return {};
  for (const auto& field : head.fields) {
    if (field.known != http::KnownField::via) continue;
    std::string_view list = field.value;
    std::string_view element;
    while (http::next_list_element(list, element)) {
      // received-protocol RWS received-by [ RWS comment ]
      const std::size_t blank = element.find_first_of(" \t");
      if (blank == std::string_view::npos) continue;
      std::string_view by = http::trim_blanks(element.substr(blank));
      by = by.substr(0, by.find_first_of(" \t"));
      if (http::equals_ignore_case(by, options_.via_pseudonym)) {
        return std::unexpected(Error{.code = Code::loop,
                                     .side = Side::client,
                                     .status = 508,
                                     .what = "the request has passed this proxy before (Via)"});
      }
    }
  }
  return {};
}

namespace {

// RFC 9110 §7.6.2 gives the field a meaning for these two methods only.
const http::Field* max_forwards_of(const http::RequestHead& head) {
  if (head.method != http::Method::options && head.method != http::Method::trace) return nullptr;
  return head.fields.find("max-forwards");
}

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

Result<> ForwardingRules::check_max_forwards(const http::RequestHead& head) {
  const http::Field* field = max_forwards_of(head);
  if (field == nullptr) return {};
  const auto number = number_of(field->value);
  if (!number) return protocol_error("Max-Forwards is not a number", Side::client);
  if (*number > 0) return {};
  return std::unexpected(Error{
      .code = Code::unsupported, .side = Side::client, .what = "Max-Forwards ends at this proxy"});
}

void ForwardingRules::count_down_max_forwards(http::RequestHead& head, std::string& storage) {
  const http::Field* field = max_forwards_of(head);
  if (field == nullptr) return;
  const std::string less = std::to_string(number_of(field->value).value_or(1) - 1);
  head.fields.drop("max-forwards");
  const std::size_t begin = storage.size();
  storage += less;
  head.fields.add("Max-Forwards", std::string_view(storage).substr(begin));
}

void ForwardingRules::add_via(http::FieldList& fields, http::Version received) const {
  if (options_.via_pseudonym.empty()) return;
  fields.add(
      made_field(via_lines_[std::to_underlying(received)], kViaName.size(), http::KnownField::via));
}

void ForwardingRules::add_x_forwarded(http::RequestHead& head, std::string_view client_ip,
                                      std::string& storage) const {
  using enum http::KnownField;
  std::string_view addresses = client_ip;
  if (options_.trust_incoming && head.fields.has(x_forwarded_for)) {
    TextMaker text(storage);
    add_joined(text, head.fields, x_forwarded_for);
    addresses = text.add(client_ip).finish();
  }
  head.fields.drop(x_forwarded_for);
  head.fields.add(
      {.name = "X-Forwarded-For", .value = addresses, .line = {}, .known = x_forwarded_for});
  // Set by the first proxy that is trusted; a later one would overwrite what the client really
  // used.
  if (!options_.trust_incoming || head.fields.find(x_forwarded_proto) == nullptr) {
    head.fields.drop(x_forwarded_proto);
    head.fields.add({.name = "X-Forwarded-Proto",
                     .value = head.scheme,
                     .line = {},
                     .known = x_forwarded_proto});
  }
  if (head.authority.empty()) {
    if (!options_.trust_incoming) head.fields.drop(x_forwarded_host);
  } else if (!options_.trust_incoming || head.fields.find(x_forwarded_host) == nullptr) {
    head.fields.drop(x_forwarded_host);
    head.fields.add({.name = "X-Forwarded-Host",
                     .value = head.authority,
                     .line = {},
                     .known = x_forwarded_host});
  }
}

void ForwardingRules::add_forwarded(http::RequestHead& head, std::string_view client_ip,
                                    std::string& storage) const {
  using http::KnownField;
  TextMaker text(storage);
  if (options_.trust_incoming) add_joined(text, head.fields, KnownField::forwarded);
  // RFC 7239 §6: an IPv6 address is bracketed and therefore quoted.
  const bool ipv6 = client_ip.contains(':');
  text.add(ipv6 ? "for=\"[" : "for=").add(client_ip).add(ipv6 ? "]\"" : "");
  text.add(";proto=").add(head.scheme);
  if (!head.authority.empty()) text.add(";host=\"").add(head.authority).add("\"");
  head.fields.drop(KnownField::forwarded);
  head.fields.add(
      {.name = "Forwarded", .value = text.finish(), .line = {}, .known = KnownField::forwarded});
}

void ForwardingRules::prepare_request(http::RequestHead& head, std::string_view client_ip,
                                      bool encrypted, std::string& storage) const {
  head.scheme = encrypted ? "https" : "http";
  http::drop_hop_by_hop(head.fields);
  add_via(head.fields, head.version);
  storage.clear();
  // Everything that may be added, so that nothing moves once views exist.
  storage.reserve(joined_bytes(head.fields, http::KnownField::x_forwarded_for) +
                  joined_bytes(head.fields, http::KnownField::forwarded) + 2 * client_ip.size() +
                  head.authority.size() + 80);
  count_down_max_forwards(head, storage);
  if (options_.fields == ForwardedFields::none) return;
  const bool both = options_.fields == ForwardedFields::both;
  if (both || options_.fields == ForwardedFields::x_forwarded) {
    add_x_forwarded(head, client_ip, storage);
  }
  if (both || options_.fields == ForwardedFields::forwarded) {
    add_forwarded(head, client_ip, storage);
  }
  // What the operator did not choose would reach the origin as the client's own claim.
  if (!options_.trust_incoming && !both) {
    using enum http::KnownField;
    if (options_.fields == ForwardedFields::x_forwarded) {
      head.fields.drop(forwarded);
    } else {
      head.fields.drop(x_forwarded_for);
      head.fields.drop(x_forwarded_host);
      head.fields.drop(x_forwarded_proto);
    }
  }
}

void ForwardingRules::prepare_response(http::ResponseHead& head, std::string_view date) const {
  http::drop_hop_by_hop(head.fields);
  add_via(head.fields, head.version);
  if (!head.is_interim() && head.fields.find(http::KnownField::date) == nullptr) {
    head.fields.add({.name = "Date", .value = date, .line = {}, .known = http::KnownField::date});
  }
}

}  // namespace titanium::proxy
