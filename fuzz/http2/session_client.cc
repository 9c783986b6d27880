// SPDX-License-Identifier: MIT
//
// The same for a client's connection, whatever a server says.
#include "session.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace titanium;
  constexpr std::size_t kChoices = 32;
  if (size < kChoices) return 0;
  fuzz::Choices choices(data, kChoices);
  const http2::Options options = fuzz::fuzz_options();
  fuzz::Owner owner(http2::Role::client, choices, options);
  owner.write();
  for (int i = 0; i < 3; ++i) owner.open();
  fuzz::converse(owner, choices, {reinterpret_cast<const char*>(data) + kChoices, size - kChoices});
  return 0;
}
