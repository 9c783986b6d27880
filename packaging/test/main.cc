// SPDX-License-Identifier: MIT
#include <titanium/proxy.h>
#include <titanium/version.h>

#include <print>

int main() {
  auto proxy = titanium::Proxy::from_text(
      "listeners: [{host: 127.0.0.1, port: 0, forwardHost: 127.0.0.1, forwardPort: 1}]");
  if (!proxy) return 1;
  if (const auto started = proxy->start(); !started) {
    for (const auto& problem : started.error()) std::println("{}", to_string(problem));
    return 1;
  }
  std::println("titanium {} on {}", titanium::version(), proxy->addresses().front());
  return proxy->drain() ? 0 : 1;
}
