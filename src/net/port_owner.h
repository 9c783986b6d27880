// SPDX-License-Identifier: MIT
//
// Internal to net: who listens on a port. Slow, for start-up and error messages only.
#pragma once

#include "net/address.h"

namespace titanium::net {

// True if a socket of this process listens on the address or on one that covers it.
[[nodiscard]] bool this_process_listens_on(const SocketAddress& address);

}  // namespace titanium::net
