// SPDX-License-Identifier: MIT
//
// Requests that have been used to smuggle a second one past a proxy. Each has to be refused, or has
// to leave in a form that can be read in one way only. New reports are added as rows.
#include <gtest/gtest.h>

#include "unit/http1/head_text.h"

namespace titanium::http1 {
namespace {

struct Probe {
  std::string_view name;
  std::string_view fields;  // Behind "POST / HTTP/1.1\r\nHost: h\r\n".
  std::uint16_t status = 400;
};

TEST(Smuggling, ProbesAreRefused) {
  const Probe probes[] = {
      {"CL.TE", "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n"},
      {"TE.CL", "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n"},
      {"CL.0", "Content-Length: 0\r\nContent-Length: 44\r\n"},
      {"CL list", "Content-Length: 5, 5\r\n"},
      {"CL with a sign", "Content-Length: +5\r\n"},
      {"CL with an underscore", "Content-Length: 5_0\r\n"},
      {"CL in hexadecimal", "Content-Length: 0x5\r\n"},
      {"CL with a vertical tab",
       "Content-Length: \x0b"
       "5\r\n"},
      {"CL with a form feed", "Content-Length: 5\x0c\r\n"},
      {"CL with a NUL", {"Content-Length: 5\0\r\n", 20}},
      {"CL with a no-break space",
       "Content-Length: \xc2\xa0"
       "5\r\n"},
      {"CL before a blank", "Content-Length : 5\r\n"},
      {"CL folded", "Content-Length:\r\n 5\r\n"},
      {"TE.TE", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"},
      {"TE.TE, unknown last", "Transfer-Encoding: chunked\r\nTransfer-encoding: cow\r\n"},
      {"TE twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"},
      {"TE before a blank", "Transfer-Encoding : chunked\r\n"},
      {"TE before a tab", "Transfer-Encoding\t: chunked\r\n"},
      {"TE with a vertical tab",
       "Transfer-Encoding:\x0b"
       "chunked\r\n"},
      {"TE with a form feed",
       "Transfer-Encoding: \x0c"
       "chunked\r\n"},
      {"TE with a NUL", {"Transfer-Encoding: chunked\0\r\n", 29}},
      {"TE with a bare CR", "Transfer-Encoding: chunked\rX: y\r\n"},
      {"TE behind a bare CR", "X: y\rTransfer-Encoding: chunked\r\n"},
      {"TE behind a bare LF", "X: y\nTransfer-Encoding: chunked\r\n"},
      {"TE behind CR CR LF", "X: y\r\r\nTransfer-Encoding: chunked\r\n"},
      {"TE folded", "Transfer-Encoding:\r\n chunked\r\n"},
      {"TE behind a fold", "X: y\r\n Transfer-Encoding: chunked\r\n"},
      {"TE behind a tabbed fold", "X: y\r\n\tTransfer-Encoding: chunked\r\n"},
      {"TE quoted", "Transfer-Encoding: \"chunked\"\r\n"},
      {"TE in quotes of another kind", "Transfer-Encoding: 'chunked'\r\n", 501},
      {"TE with junk in front", "Transfer-Encoding: xchunked\r\n", 501},
      {"TE identity", "Transfer-Encoding: identity\r\n", 501},
      {"TE identity, then chunked", "Transfer-Encoding: identity, chunked\r\n", 501},
      {"TE with a parameter", "Transfer-Encoding: chunked; a=b\r\n"},
      {"TE with an empty element", "Transfer-Encoding: ,chunked\r\n"},
      {"TE with a no-break space",
       "Transfer-Encoding:\xa0"
       "chunked\r\n"},
      {"TE with a wide space in the name", "Transfer-Encoding\xe3\x80\x80: chunked\r\n"},
      {"TE with a dotless i", "Transfer-Encod\xc4\xb1ng: chunked\r\n"},
      {"empty name", ": chunked\r\n"},
      {"no colon", "Transfer-Encoding chunked\r\n"},
      {"second Host", "Host: other\r\n"},
      {"second Host before a blank", "Host : other\r\n"},
      {"DEL in a value", "X: \x7f\r\n"},
      {"escape byte in a value", "X: \x1b[1m\r\n"},
  };
  for (const auto& probe : probes) {
    SCOPED_TRACE(std::string(probe.name));
    std::string text = "POST / HTTP/1.1\r\nHost: h\r\n";
    text.append(probe.fields).append("\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n");
    const auto parsed = test::parse_request(text);
    ASSERT_FALSE(parsed.length.has_value());
    EXPECT_EQ(parsed.length.error().status, probe.status) << parsed.length.error().what;
  }
}

TEST(Smuggling, WhatIsHarmlessHereLeavesWithoutAnyDoubt) {
  const Probe probes[] = {
      // Names of which a sloppy origin might think that they are the framing fields.
      {"underscore", "Transfer_Encoding: chunked\r\nContent_Length: 5\r\n"},
      {"connection-listed length", "Connection: content-length\r\nContent-Length: 5\r\n"},
      {"connection-listed coding",
       "Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n"},
      {"blanks around", "Transfer-Encoding: \t chunked\t \r\n"},
      {"upper case", "TRANSFER-ENCODING: CHUNKED\r\n"},
  };
  for (const auto& probe : probes) {
    SCOPED_TRACE(std::string(probe.name));
    std::string text = "POST / HTTP/1.1\r\nHost: h\r\n";
    text.append(probe.fields).append("\r\n");
    auto parsed = test::parse_request(text);
    ASSERT_TRUE(parsed.length.has_value());
    http::drop_hop_by_hop(parsed.head.fields);
    const std::string out = test::write(parsed.head);
    const auto again = test::parse_request(out);
    ASSERT_TRUE(again.length.has_value()) << out;
    EXPECT_EQ(again.info.framing, parsed.info.framing);
    EXPECT_EQ(out.find("CHUNKED"), std::string::npos);
    EXPECT_EQ(out.find("Connection"), std::string::npos);
  }
}

}  // namespace
}  // namespace titanium::http1
