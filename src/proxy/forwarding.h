// SPDX-License-Identifier: MIT
//
// What a proxy adds to, and takes out of, the heads that it forwards (RFC 9110 §7.6, RFC 7239).
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "http/date.h"
#include "http/message.h"
#include "proxy/options.h"

namespace titanium::proxy {

// Lines that are the same for every message, made once per worker.
class ForwardingRules {
 public:
  explicit ForwardingRules(const Forwarding& options);

  // RFC 9110 §7.6.3: our own pseudonym in Via means that the request has been here before (508).
  [[nodiscard]] Result<> check_loop(const http::RequestHead& head) const;

  // RFC 9110 §7.6.2: TRACE or OPTIONS that was to go as far as here and no further (501: this proxy
  // has nothing to say about itself).
  [[nodiscard]] static Result<> check_max_forwards(const http::RequestHead& head);

  // Drops hop-by-hop fields, counts Max-Forwards down, adds Via and the X-Forwarded-* or Forwarded
  // fields. Texts that have to be made are kept in `storage`, which has to live as long as the head
  // is used.
  void prepare_request(http::RequestHead& head, std::string_view client_ip, bool encrypted,
                       std::string& storage) const;
  // Drops hop-by-hop fields, adds Via, and Date if the origin sent none (RFC 9110 §6.6.1).
  void prepare_response(http::ResponseHead& head, std::string_view date) const;

  // The name in Via and Proxy-Status.
  [[nodiscard]] std::string_view name() const noexcept { return name_; }

 private:
  void add_via(http::FieldList& fields, http::Version received) const;
  static void count_down_max_forwards(http::RequestHead& head, std::string& storage);
  void add_x_forwarded(http::RequestHead& head, std::string_view client_ip,
                       std::string& storage) const;
  void add_forwarded(http::RequestHead& head, std::string_view client_ip,
                     std::string& storage) const;

  Forwarding options_;
  std::string name_;
  std::string via_lines_[4];  // "Via: 1.1 titanium\r\n", by http::Version.
};

}  // namespace titanium::proxy
