// SPDX-License-Identifier: MIT
//
// Properties of a server's connection, whatever a client says and however it is cut: what it says
// are frames that the client can read, no window is exceeded, nothing comes behind an END_STREAM,
// and an error ends with GOAWAY.
#include "session.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace titanium;
  // The first bytes are choices; the rest is what the client says behind its preface.
  constexpr std::size_t kChoices = 32;
  if (size < kChoices) return 0;
  fuzz::Choices choices(data, kChoices);
  const http2::Options options = fuzz::fuzz_options();
  fuzz::Owner owner(http2::Role::server, choices, options);
  owner.hear_preface();
  fuzz::converse(owner, choices, {reinterpret_cast<const char*>(data) + kChoices, size - kChoices});
  return 0;
}
