// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "base/intrusive_list.h"
#include "proxy/admission.h"

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
  void doom() noexcept {
    doomed_ = true;
    const AdmissionTicket given_back = take_ticket();
  }

  // Hands the ticket on to the connection that takes this one's place.
  [[nodiscard]] AdmissionTicket take_ticket() noexcept { return std::move(ticket_); }

 protected:
  explicit ClientConnection(AdmissionTicket ticket) noexcept : ticket_(std::move(ticket)) {}

 private:
  AdmissionTicket ticket_;
  bool doomed_ = false;
};

}  // namespace titanium::proxy
