// SPDX-License-Identifier: MIT
#include "proxy/generated_answer.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace titanium::proxy {
namespace {

TEST(GeneratedAnswer, HasTheStatusAndTypeThatSayWhoIsToBlame) {
  struct Case {
    Error error;
    std::uint16_t status;
    std::string_view type;
  };
  const Case cases[] = {
      {{.code = Code::protocol, .side = Side::client, .what = "x"}, 400, "http_request_error"},
      {{.code = Code::protocol, .side = Side::client, .status = 404, .what = "x"},
       404,
       "destination_not_found"},
      {{.code = Code::limit, .side = Side::client, .status = 431, .what = "x"},
       431,
       "http_request_error"},
      {{.code = Code::unsupported, .side = Side::client, .what = "x"}, 501, "http_request_error"},
      {{.code = Code::timed_out, .side = Side::client, .what = "x"}, 408, "http_request_error"},
      {{.code = Code::loop, .side = Side::client, .what = "x"}, 508, "proxy_loop_detected"},
      {{.code = Code::protocol, .side = Side::origin, .what = "x"}, 502, "http_protocol_error"},
      {{.code = Code::closed, .side = Side::origin, .what = "x"}, 502, "connection_terminated"},
      {{.code = Code::reset, .side = Side::origin, .what = "x"}, 502, "connection_terminated"},
      {{.code = Code::tls, .side = Side::origin, .what = "x"}, 502, "tls_protocol_error"},
      {{.code = Code::certificate, .side = Side::origin, .what = "x"},
       502,
       "tls_certificate_error"},
      {{.code = Code::timed_out, .side = Side::origin, .what = "x"}, 504, "http_response_timeout"},
      {{.code = Code::timed_out, .side = Side::origin, .retry = Retry::always, .what = "x"},
       504,
       "connection_timeout"},
      {{.code = Code::unavailable, .side = Side::origin, .native = ECONNREFUSED, .what = "x"},
       502,
       "connection_refused"},
      {{.code = Code::unavailable, .side = Side::origin, .native = EHOSTUNREACH, .what = "x"},
       502,
       "destination_ip_unroutable"},
      {{.code = Code::unavailable, .side = Side::origin, .native = 4, .what = "x"},
       502,
       "dns_error"},
      {{.code = Code::unavailable, .side = Side::self, .what = "x"},
       503,
       "destination_unavailable"},
      {{.code = Code::internal, .side = Side::self, .what = "x"}, 500, "proxy_internal_error"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.type));
    EXPECT_EQ(status_of(c.error), c.status);
    EXPECT_EQ(proxy_status_type(c.error), c.type);
  }
}

TEST(GeneratedAnswer, NamesReasonAndOriginForAHumanAndForPrograms) {
  http::ResponseHead head;
  AnswerTexts texts;
  make_answer({.code = Code::closed, .side = Side::origin, .what = "it went away"}, "edge",
              "a.example:80", head, texts);
  EXPECT_EQ(head.status, 502);
  EXPECT_EQ(texts.body, "502 Bad Gateway\nit went away (origin a.example:80)\n");
  EXPECT_EQ(head.body, (http::BodySize{http::BodyKind::sized, texts.body.size()}));
  EXPECT_EQ(head.fields.find("proxy-status")->value,
            "edge; error=connection_terminated; details=\"it went away\"");
  EXPECT_EQ(head.fields.find("content-type")->value, "text/plain; charset=utf-8");
}

}  // namespace
}  // namespace titanium::proxy
