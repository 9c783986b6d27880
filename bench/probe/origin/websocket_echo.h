// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/chunk.h"
#include "base/error.h"
#include "load/websocket.h"

namespace titanium::probe {

// The server's end of a WebSocket: sends back each frame, while it arrives; answers ping and close.
class WebSocketEcho {
 public:
  // Takes bytes from the client and queues what is to be sent. Returns how many were used: all but
  // an incomplete header or control frame. Errors: the connection has to be closed.
  [[nodiscard]] Result<std::size_t> take(std::string_view bytes, ChunkQueue& out);

  // A close frame was answered: nothing more is sent.
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }

 private:
  [[nodiscard]] Result<std::size_t> take_header(std::string_view bytes, ChunkQueue& out);
  [[nodiscard]] std::size_t take_control(const websocket::ParsedHeader& frame,
                                         std::string_view bytes, ChunkQueue& out);
  [[nodiscard]] std::size_t take_payload(std::string_view bytes, ChunkQueue& out);
  void send_header(websocket::FrameHeader header, ChunkQueue& out);

  std::optional<websocket::FrameHeader> frame_;  // Of the payload that is being echoed.
  std::uint64_t seen_ = 0;                       // Of that payload.
  bool closed_ = false;
  std::string header_;  // Kept for its memory.
};

}  // namespace titanium::probe
