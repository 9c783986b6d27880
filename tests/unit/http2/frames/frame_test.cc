// SPDX-License-Identifier: MIT
#include "http2/frames/frame.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "unit/http2/hpack/hex.h"

namespace titanium::http2 {
namespace {

using test::to_hex;

std::string text_of(const ChunkQueue& queue) {
  std::vector<char> scratch;
  return std::string(queue.peek_contiguous(scratch));
}

// What `write` appends, in hexadecimal.
template <typename Write>
std::string written(Write write) {
  ChunkPool pool;
  ChunkQueue out(pool);
  write(out);
  return to_hex(text_of(out));
}

struct Frame {
  FrameHeader header;
  std::string payload;
};

std::vector<Frame> frames_of(const ChunkQueue& queue) {
  const std::string text = text_of(queue);
  std::vector<Frame> frames;
  for (std::size_t at = 0; at < text.size();) {
    EXPECT_LE(at + kFrameHeaderBytes, text.size());
    const Bytes bytes = as_bytes(std::string_view(text).substr(at, kFrameHeaderBytes));
    const FrameHeader header = decode_frame_header(bytes.first<kFrameHeaderBytes>());
    at += kFrameHeaderBytes;
    EXPECT_LE(at + header.length, text.size());
    frames.push_back({header, text.substr(at, header.length)});
    at += header.length;
  }
  return frames;
}

TEST(FrameHeader, IsNineBytesInNetworkOrder) {
  constexpr FrameHeader kHeader{
      .length = 0x123456, .type = 0xab, .flags = 0x25, .stream_id = 0x7654'3210};
  std::array<std::uint8_t, kFrameHeaderBytes> bytes{};
  encode_frame_header(bytes, kHeader);
  EXPECT_EQ(to_hex(as_text(bytes)), "123456ab2576543210");
  const FrameHeader read = decode_frame_header(bytes);
  EXPECT_EQ(read.length, kHeader.length);
  EXPECT_EQ(read.type, kHeader.type);
  EXPECT_EQ(read.flags, kHeader.flags);
  EXPECT_EQ(read.stream_id, kHeader.stream_id);
}

TEST(FrameHeader, IgnoresTheReservedBit) {  // RFC 9113 §4.1
  constexpr std::array<std::uint8_t, kFrameHeaderBytes> kBytes = {0,    0,   0,   0,  0,
                                                                  0xff, 255, 255, 255};
  EXPECT_EQ(decode_frame_header(kBytes).stream_id, 0x7fff'ffffU);
}

TEST(FrameHeader, TellsFlags) {
  constexpr FrameHeader kHeader{.flags = flag::kEndHeaders | flag::kPadded};
  EXPECT_TRUE(kHeader.has(flag::kEndHeaders));
  EXPECT_TRUE(kHeader.has(flag::kPadded));
  EXPECT_FALSE(kHeader.has(flag::kEndStream));
}

TEST(FrameWriters, WriteEachTypeAsRfc9113Section6Says) {
  EXPECT_EQ(written([](ChunkQueue& out) {
              write_frame_header(out, {.length = 5, .type = 0, .flags = 1, .stream_id = 3});
            }),
            "000005"
            "00"
            "01"
            "00000003");
  EXPECT_EQ(written([](ChunkQueue& out) { write_settings(out, {}); }),
            "000000"
            "04"
            "00"
            "00000000");
  EXPECT_EQ(written([](ChunkQueue& out) {
              write_settings(
                  out, std::array<Setting, 2>{{{SettingId::max_concurrent_streams, 256},
                                               {SettingId::no_rfc7540_priorities, 0x0102'0304}}});
            }),
            "00000c"
            "04"
            "00"
            "00000000"
            "0003"
            "00000100"
            "0009"
            "01020304");
  EXPECT_EQ(written([](ChunkQueue& out) { write_settings_ack(out); }),
            "000000"
            "04"
            "01"
            "00000000");
  constexpr std::array<std::uint8_t, 8> kOpaque = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(written([&](ChunkQueue& out) { write_ping(out, kOpaque, false); }),
            "000008"
            "06"
            "00"
            "00000000"
            "0102030405060708");
  EXPECT_EQ(written([&](ChunkQueue& out) { write_ping(out, kOpaque, true); }),
            "000008"
            "06"
            "01"
            "00000000"
            "0102030405060708");
  EXPECT_EQ(written([](ChunkQueue& out) { write_rst_stream(out, 5, ErrorCode::cancel); }),
            "000004"
            "03"
            "00"
            "00000005"
            "00000008");
  EXPECT_EQ(written([](ChunkQueue& out) { write_window_update(out, 7, kLargestWindow); }),
            "000004"
            "08"
            "00"
            "00000007"
            "7fffffff");
  EXPECT_EQ(written([](ChunkQueue& out) {
              write_goaway(out, 0x0102, ErrorCode::enhance_your_calm, "calm");
            }),
            "00000c"
            "07"
            "00"
            "00000000"
            "00000102"
            "0000000b"
            "63616c6d");
  EXPECT_EQ(written([](ChunkQueue& out) { write_goaway(out, 1, ErrorCode::no_error, ""); }),
            "000008"
            "07"
            "00"
            "00000000"
            "00000001"
            "00000000");
}

TEST(FrameWriters, AppendToWhatIsThere) {
  EXPECT_EQ(written([](ChunkQueue& out) {
              out.append("x");
              write_settings_ack(out);
              write_rst_stream(out, 1, ErrorCode::no_error);
            }),
            "78"
            "000000040100000000"
            "000004030000000001"
            "00000000");
}

struct BlockCase {
  std::size_t block_bytes;
  std::vector<std::uint32_t> frame_bytes;
};

TEST(WriteHeaderBlock, CutsTheBlockAtTheFrameSize) {
  for (const auto& [block_bytes, frame_bytes] : {
           BlockCase{0, {0}},
           BlockCase{1, {1}},
           BlockCase{99, {99}},
           BlockCase{100, {100}},
           BlockCase{101, {100, 1}},
           BlockCase{200, {100, 100}},
           BlockCase{201, {100, 100, 1}},
           BlockCase{1050, {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 50}},
       }) {
    for (const bool end_stream : {false, true}) {
      SCOPED_TRACE(testing::Message() << block_bytes << " bytes, end " << end_stream);
      std::string block(block_bytes, '\0');
      for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<char>(i);
      ChunkPool pool;
      ChunkQueue out(pool);
      write_header_block(out, 9, block, end_stream, 100);

      std::vector<std::uint32_t> sizes;
      std::string joined;
      const std::vector<Frame> frames = frames_of(out);
      for (const auto& [header, payload] : frames) {
        const bool first = sizes.empty();
        sizes.push_back(header.length);
        const bool last = sizes.size() == frames.size();
        joined += payload;
        EXPECT_EQ(header.stream_id, 9U);
        EXPECT_EQ(header.type,
                  std::to_underlying(first ? FrameType::headers : FrameType::continuation));
        // END_STREAM is a flag of HEADERS only (RFC 9113 §6.2, §6.10).
        EXPECT_EQ(header.flags,
                  (first && end_stream ? flag::kEndStream : 0) | (last ? flag::kEndHeaders : 0));
      }
      EXPECT_EQ(sizes, frame_bytes);
      EXPECT_EQ(joined, block);
    }
  }
}

TEST(WriteHeaderBlock, WritesBlocksLargerThanAChunk) {
  ChunkPool pool;
  ChunkQueue out(pool);
  const std::string block(3 * kDefaultFrameBytes, 'b');
  write_header_block(out, 1, block, false, kDefaultFrameBytes);
  EXPECT_EQ(frames_of(out).size(), 3U);
  out.clear();
  write_header_block(out, 1, block, false, kLargestFrameBytes);
  const std::vector<Frame> frames = frames_of(out);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].payload, block);
}

}  // namespace
}  // namespace titanium::http2
