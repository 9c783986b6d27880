// SPDX-License-Identifier: MIT
//
// What HPACK costs per field block, with everything warm: the first block of a connection, whose
// lines go into the table, and one that repeats it and finds them there.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http2/hpack/decoder.h"
#include "http2/hpack/encoder.h"

namespace titanium::http2 {
namespace {

using Lines = std::vector<std::pair<std::string_view, std::string_view>>;

const Lines& request() {
  static const Lines lines = {
      {":method", "GET"},
      {":scheme", "https"},
      {":authority", "www.example.com"},
      {":path", "/static/js/app.3f9c2b.js"},
      {"user-agent",
       "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
       "Chrome/140.0.0.0 Safari/537.36"},
      {"accept",
       "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"},
      {"accept-encoding", "gzip, deflate, br, zstd"},
      {"accept-language", "en-GB,en;q=0.9,de;q=0.8"},
  };
  return lines;
}

// As an HTTP/1 origin writes it; three of its lines change with every message.
const Lines& response() {
  static const Lines lines = {
      {":status", "200"},
      {"Server", "nginx/1.26.3"},
      {"Date", "Thu, 01 Jan 2026 00:00:00 GMT"},
      {"Content-Type", "application/json"},
      {"Content-Length", "56"},
      {"Cache-Control", "no-store"},
      {"ETag", "\"5f2b1c-38\""},
  };
  return lines;
}

void encode_block(HpackEncoder& encoder, const Lines& lines, std::string& out) {
  out.clear();
  encoder.begin_block(out);
  for (const auto& [name, value] : lines) encoder.add(out, name, value);
}

void encode_first(benchmark::State& state, const Lines& (*lines)()) {
  std::string out;
  for (auto _ : state) {
    HpackEncoder encoder;
    encode_block(encoder, lines(), out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK_CAPTURE(encode_first, request, request);
BENCHMARK_CAPTURE(encode_first, response, response);

void encode_again(benchmark::State& state, const Lines& (*lines)()) {
  HpackEncoder encoder;
  std::string out;
  encode_block(encoder, lines(), out);
  for (auto _ : state) {
    encode_block(encoder, lines(), out);
    benchmark::DoNotOptimize(out.data());
  }
  state.counters["bytes"] = static_cast<double>(out.size());
}
BENCHMARK_CAPTURE(encode_again, request, request);
BENCHMARK_CAPTURE(encode_again, response, response);

void decode_first(benchmark::State& state, const Lines& (*lines)()) {
  HpackEncoder encoder;
  std::string block;
  encode_block(encoder, lines(), block);
  FieldBlock out;
  for (auto _ : state) {
    HpackDecoder decoder;
    auto outcome = decoder.decode(block, {}, Side::client, out);
    benchmark::DoNotOptimize(outcome);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK_CAPTURE(decode_first, request, request);
BENCHMARK_CAPTURE(decode_first, response, response);

void decode_again(benchmark::State& state, const Lines& (*lines)()) {
  HpackEncoder encoder;
  HpackDecoder decoder;
  std::string block;
  FieldBlock out;
  encode_block(encoder, lines(), block);
  if (!decoder.decode(block, {}, Side::client, out)) return state.SkipWithError("not HPACK");
  encode_block(encoder, lines(), block);
  for (auto _ : state) {
    auto outcome = decoder.decode(block, {}, Side::client, out);
    benchmark::DoNotOptimize(outcome);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK_CAPTURE(decode_again, request, request);
BENCHMARK_CAPTURE(decode_again, response, response);

}  // namespace
}  // namespace titanium::http2
