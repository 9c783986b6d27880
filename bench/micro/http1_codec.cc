// SPDX-License-Identifier: MIT
//
// What parsing and writing HTTP/1.1 costs, per message, with everything warm: the part of a request
// that is neither the kernel's nor the network's.
#include <benchmark/benchmark.h>

#include <string>
#include <string_view>

#include "base/chunk.h"
#include "http1/body_decoder.h"
#include "http1/head_parser.h"
#include "http1/serializer.h"

namespace titanium::http1 {
namespace {

constexpr std::string_view kCurlRequest =
    "GET /json HTTP/1.1\r\n"
    "Host: 127.0.0.1:8080\r\n"
    "User-Agent: curl/8.14.1\r\n"
    "Accept: */*\r\n"
    "\r\n";

constexpr std::string_view kBrowserRequest =
    "GET /static/js/app.3f9c2b.js?v=20260101 HTTP/1.1\r\n"
    "Host: www.example.com\r\n"
    "Connection: keep-alive\r\n"
    "Cache-Control: max-age=0\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36\r\n"
    "Accept: "
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\n"
    "Accept-Language: en-GB,en;q=0.9,de;q=0.8\r\n"
    "Referer: https://www.example.com/account/settings\r\n"
    "Cookie: session=0123456789abcdef0123456789abcdef; theme=dark; consent=yes; _id=GA1.2.3.4\r\n"
    "Upgrade-Insecure-Requests: 1\r\n"
    "Sec-Fetch-Dest: document\r\n"
    "\r\n";

constexpr std::string_view kResponse =
    "HTTP/1.1 200 OK\r\n"
    "Server: nginx/1.26.3\r\n"
    "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
    "Content-Type: application/json\r\n"
    "Content-Length: 56\r\n"
    "Connection: keep-alive\r\n"
    "Cache-Control: no-store\r\n"
    "ETag: \"5f2b1c-38\"\r\n"
    "\r\n";

void parse_request(benchmark::State& state, std::string_view text) {
  RequestParser parser;
  http::RequestHead head;
  ConnectionInfo info;
  for (auto _ : state) {
    parser.reset();
    auto length = parser.parse(text, head, info);
    benchmark::DoNotOptimize(length);
    benchmark::DoNotOptimize(head);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK_CAPTURE(parse_request, curl, kCurlRequest);
BENCHMARK_CAPTURE(parse_request, browser, kBrowserRequest);

void parse_response(benchmark::State& state) {
  ResponseParser parser;
  http::ResponseHead head;
  ConnectionInfo info;
  for (auto _ : state) {
    parser.reset();
    auto length = parser.parse(kResponse, http::Method::get, head, info);
    benchmark::DoNotOptimize(length);
    benchmark::DoNotOptimize(head);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kResponse.size()));
}
BENCHMARK(parse_response);

// As the exchange engine does it: hop-by-hop fields dropped, one field added.
void write_request(benchmark::State& state, std::string_view text) {
  RequestParser parser;
  http::RequestHead head;
  ConnectionInfo info;
  if (!parser.parse(text, head, info)) return state.SkipWithError("not a request");
  http::drop_hop_by_hop(head.fields);
  head.fields.add("Via", "1.1 titanium");
  ChunkPool pool;
  ChunkQueue out(pool);
  for (auto _ : state) {
    write_request_head(out, head);
    benchmark::DoNotOptimize(out.front().data());
    out.clear();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK_CAPTURE(write_request, curl, kCurlRequest);
BENCHMARK_CAPTURE(write_request, browser, kBrowserRequest);

void write_response(benchmark::State& state) {
  ResponseParser parser;
  http::ResponseHead head;
  ConnectionInfo info;
  if (!parser.parse(kResponse, http::Method::get, head, info)) {
    return state.SkipWithError("not a response");
  }
  http::drop_hop_by_hop(head.fields);
  ChunkPool pool;
  ChunkQueue out(pool);
  for (auto _ : state) {
    write_response_head(out, head, http::Version::http11, AfterResponse::keep_alive);
    benchmark::DoNotOptimize(out.front().data());
    out.clear();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kResponse.size()));
}
BENCHMARK(write_response);

// One exchange of the codec: request in and out, response in and out.
void forward_exchange(benchmark::State& state, std::string_view text) {
  RequestParser request_parser;
  ResponseParser response_parser;
  http::RequestHead request;
  http::ResponseHead response;
  ConnectionInfo info;
  ChunkPool pool;
  ChunkQueue out(pool);
  for (auto _ : state) {
    request_parser.reset();
    auto got_request = request_parser.parse(text, request, info);
    benchmark::DoNotOptimize(got_request);
    http::drop_hop_by_hop(request.fields);
    request.fields.add("Via", "1.1 titanium");
    write_request_head(out, request);
    out.clear();
    response_parser.reset();
    auto got_response = response_parser.parse(kResponse, request.method, response, info);
    benchmark::DoNotOptimize(got_response);
    http::drop_hop_by_hop(response.fields);
    write_response_head(out, response, http::Version::http11, AfterResponse::keep_alive);
    benchmark::DoNotOptimize(out.front().data());
    out.clear();
  }
}
BENCHMARK_CAPTURE(forward_exchange, curl, kCurlRequest);
BENCHMARK_CAPTURE(forward_exchange, browser, kBrowserRequest);

// 64 KiB in chunks of the given size, arriving in reads of 16 KiB.
void decode_chunked(benchmark::State& state) {
  constexpr std::size_t kBodyBytes = 64 * 1024;
  constexpr std::size_t kReadBytes = 16 * 1024;
  const auto chunk_bytes = static_cast<std::size_t>(state.range(0));
  std::string wire;
  for (std::size_t done = 0; done < kBodyBytes; done += chunk_bytes) {
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", chunk_bytes);
    wire.append(size).append(chunk_bytes, 'x').append("\r\n");
  }
  wire += "0\r\n\r\n";
  BodyDecoder decoder(Side::origin);
  http::FieldList trailers;
  for (auto _ : state) {
    decoder.start({.framing = Framing::chunked});
    std::size_t begin = 0;
    std::size_t end = 0;
    while (!decoder.done()) {
      end = std::min(end + kReadBytes, wire.size());
      for (;;) {
        const auto step = decoder.next(std::string_view(wire).substr(begin, end - begin), trailers);
        if (!step) return state.SkipWithError("not chunked");
        begin += step->overhead + step->data;
        benchmark::DoNotOptimize(begin);
        if (step->done || step->overhead + step->data == 0) break;
      }
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kBodyBytes));
}
BENCHMARK(decode_chunked)->Arg(64 * 1024)->Arg(4096)->Arg(64);

}  // namespace
}  // namespace titanium::http1
