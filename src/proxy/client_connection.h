// SPDX-License-Identifier: MIT
#pragma once

#include "base/intrusive_list.h"

namespace titanium::proxy {

// Anything that a client has open on a worker: a handshake in progress or a session. Owned by the
// worker, which is told to remove it when it is over.
class ClientConnection : public ListLink<ClientConnection> {
 public:
  virtual ~ClientConnection() = default;

  // Finish what is being done, start nothing new, then go.
  virtual void drain() = 0;

  // Set by the worker on removal; from then on the object does nothing but wait for destruction.
  [[nodiscard]] bool is_doomed() const noexcept { return doomed_; }
  void doom() noexcept { doomed_ = true; }

  // The listener whose connection count this one is part of.
  std::size_t listener = 0;

 private:
  bool doomed_ = false;
};

}  // namespace titanium::proxy
