// SPDX-License-Identifier: MIT
#include "tls/openssl_ptr.h"

#include <cstdint>

namespace titanium::tls {

std::string_view openssl_reason(std::string_view fallback) {
  const unsigned long first = ERR_peek_error();  // The oldest entry is the root cause.
  const char* reason = first == 0 ? nullptr : ERR_reason_error_string(first);
  return reason == nullptr ? fallback : std::string_view(reason);
}

Error take_openssl_error(Code code, Side side, std::string_view fallback) {
  const Error error{.code = code,
                    .side = side,
                    .native = static_cast<std::int32_t>(ERR_GET_REASON(ERR_peek_error())),
                    .what = openssl_reason(fallback)};
  ERR_clear_error();
  return error;
}

std::string take_openssl_text() {
  std::string text;
  const char* data = nullptr;
  int flags = 0;
  while (const unsigned long entry = ERR_get_error_all(nullptr, nullptr, nullptr, &data, &flags)) {
    if (!text.empty()) text += "; ";
    const char* reason = ERR_reason_error_string(entry);
    text += reason == nullptr ? "OpenSSL error " + std::to_string(entry) : std::string(reason);
    if ((flags & ERR_TXT_STRING) != 0 && data != nullptr && *data != '\0') {
      text.append(" (").append(data).append(")");
    }
  }
  return text;
}

}  // namespace titanium::tls
