// SPDX-License-Identifier: MIT
#include "config/cross_checks.h"

#include <gmock/gmock.h>

#include "unit/config/support.h"

namespace titanium::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kRest =
    "clusters: [{id: c, destinations: [{address: a}]}]\n"
    "routes: [{id: r, clusterId: c, match: {path: /}}]\n";

std::vector<std::string> with_rest(const std::string& listeners) {
  return messages(listeners + "\n" + std::string(kRest));
}
std::vector<std::string> route(const std::string& match) {
  return messages(
      "listeners: [{port: 1}]\n"
      "clusters: [{id: c, destinations: [{address: a}]}]\n"
      "routes:\n- id: r\n  clusterId: c\n  match: " +
      match + "\n");
}
std::vector<std::string> cluster(const std::string& keys) {
  return messages("listeners: [{forwardHost: a}]\nclusters: [{id: c, " + keys + "}]\n");
}
std::vector<std::string> server(const std::string& keys) {
  return messages("listeners: [{forwardHost: a}]\nserver: " + keys + "\n");
}

TEST(CheckListeners, WantsAtLeastOne) {
  EXPECT_THAT(messages(""), ElementsAre("twp.yaml:1:1: error: listeners: is required"));
  EXPECT_THAT(messages("listeners: []\n"),
              ElementsAre("twp.yaml:1:1: error: listeners: must have at least one item"));
  EXPECT_THAT(messages(kRest), ElementsAre("twp.yaml:1:1: error: listeners: is required"));
  EXPECT_THAT(messages("listeners: 5\n"),
              ElementsAre("twp.yaml:1:1: error: listeners: must be a list of blocks"));
}

TEST(CheckListeners, WantsSomewhereToSendRequestsTo) {
  EXPECT_THAT(messages("listeners:\n  - port: 1\n"),
              ElementsAre("twp.yaml:2:5: error: listeners[0]: has nowhere to send requests to; "
                          "give it a 'forwardHost', or the file 'routes' and 'clusters'"));
  EXPECT_THAT(messages("listeners: [{port: 1}]\nroutes: []\n").size(), 1U);
  EXPECT_THAT(with_rest("listeners: [{port: 1}]"), IsEmpty());
  EXPECT_THAT(messages("listeners: [{port: 1, forwardHost: a}]\n"), IsEmpty());
}

TEST(CheckListeners, WarnsOfKeysWithoutEffect) {
  EXPECT_THAT(
      with_rest("listeners: [{forwardPort: 1, forwardHttps: true}]"),
      ElementsAre("twp.yaml:1:14: warning: listeners[0].forwardPort: has no effect without "
                  "'forwardHost'",
                  "twp.yaml:1:30: warning: listeners[0].forwardHttps: has no effect without "
                  "'forwardHost'"));
}

TEST(CheckListeners, RefusesTheSameAddressTwice) {
  EXPECT_THAT(with_rest("listeners:\n- {port: 80}\n- {port: 81}\n- {host: '*', port: 80}"),
              ElementsAre("twp.yaml:4:15: error: listeners[2].port: 0.0.0.0:80 is taken by "
                          "listeners[0], line 2"));
  EXPECT_THAT(with_rest("listeners:\n- {host: '::1', port: 80}\n- {host: '[0::1]', port: 80}"),
              ElementsAre("twp.yaml:3:20: error: listeners[1].port: [::1]:80 is taken by "
                          "listeners[0], line 2"));
  EXPECT_THAT(with_rest("listeners:\n- {decryptSsl: true}\n- {decryptSsl: false}"),
              ElementsAre("twp.yaml:3:3: error: listeners[1]: 0.0.0.0:8000 is taken by "
                          "listeners[0], line 2"));
  EXPECT_THAT(with_rest("listeners: [{port: 0}, {port: 0}, {host: 127.0.0.1, port: 80}, "
                        "{host: 127.0.0.2, port: 80}]"),
              IsEmpty());
}

TEST(CheckListenerType, NamesWhatIsAvailable) {
  for (const std::string type : {"explicit", "socks", "quic"}) {
    EXPECT_THAT(with_rest("listeners: [{type: " + type + "}]"),
                ElementsAre("twp.yaml:1:14: error: listeners[0].type: type '" + type +
                            "' is not available in this version; available: transparent"));
  }
  EXPECT_THAT(with_rest("listeners: [{type: null, port: 1}]"), IsEmpty());
}

TEST(CheckClusters, RefusesWhatCannotBeBalanced) {
  struct Case {
    std::string keys;
    std::string message;
  };
  const std::string at = "twp.yaml:2:20: error: clusters[0].";
  const Case cases[] = {
      {"destinations: []", at + "destinations: must have at least one item"},
      {"destinations: x", at + "destinations: must be a list of blocks"},
      {"algorithm: Random", "twp.yaml:2:12: error: clusters[0].destinations: is required"},
      {"destinations: [{port: 1}]",
       "twp.yaml:2:35: error: clusters[0].destinations[0].address: is required"},
      {"destinations: [{address: a, weight: 0}]",
       "twp.yaml:2:48: error: clusters[0].destinations[0].weight: 0 is out of range (1 to "
       "1000000)"},
      {"destinations: [{address: a}, {address: A}]",
       "twp.yaml:2:49: error: clusters[0].destinations[1].id: 'a:80' is taken by "
       "clusters[0].destinations[0], line 2"},
      {"algorithm: LeastTime, destinations: [{address: a}]",
       at + "algorithm: 'LeastTime' is not available in this version; available: RoundRobin, "
            "Random, LeastRequests"},
      {"algorithm: RoundRobbin, destinations: [{address: a}]",
       at + "algorithm: 'RoundRobbin' is not one of: RoundRobin, Random, LeastRequests, LeastTime; "
            "did you mean 'RoundRobin'?"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.keys);
    EXPECT_THAT(cluster(c.keys), ElementsAre(c.message));
  }
  EXPECT_THAT(cluster("destinations: [{address: a}, {address: a, port: 81}, {id: x, address: a}]"),
              IsEmpty());
}

TEST(CheckClusters, WantsUniqueIds) {
  EXPECT_THAT(
      messages("listeners: [{forwardHost: a}]\n"
               "clusters:\n"
               "- {destinations: [{address: a}]}\n"
               "- {id: c, destinations: [{address: a}]}\n"
               "- {id: c, destinations: [{address: a}]}\n"
               "- {id: '', destinations: [{address: a}]}\n"),
      ElementsAre("twp.yaml:3:3: error: clusters[0].id: is required",
                  "twp.yaml:5:4: error: clusters[2].id: 'c' is taken by clusters[1], line 4",
                  "twp.yaml:6:4: error: clusters[3].id: must not be empty"));
}

TEST(CheckRoutes, WantsIdsAndKnownClusters) {
  EXPECT_THAT(
      messages("listeners: [{port: 1}]\n"
               "clusters: [{id: backend, destinations: [{address: a}]}]\n"
               "routes:\n"
               "- {clusterId: backend, match: {path: /}}\n"
               "- {id: a, clusterId: Backend, match: {path: /}}\n"
               "- {id: a, clusterId: frontend, match: {path: /}}\n"
               "- {id: b, match: {path: /}}\n"
               "- {id: c, clusterId: backend}\n"
               "- text\n"),
      ElementsAre("twp.yaml:4:3: error: routes[0].id: is required",
                  "twp.yaml:5:11: error: routes[1].clusterId: there is no cluster 'Backend'; did "
                  "you mean 'backend'?",
                  "twp.yaml:6:4: error: routes[2].id: 'a' is taken by routes[1], line 5",
                  "twp.yaml:6:11: error: routes[2].clusterId: there is no cluster 'frontend'",
                  "twp.yaml:7:3: error: routes[3].clusterId: is required",
                  "twp.yaml:8:3: error: routes[4].match: is required",
                  "twp.yaml:9:3: error: routes[5]: must be a block of keys"));
}

TEST(CheckMatch, RefusesConditionsThatNothingMeets) {
  struct Case {
    std::string match;
    std::string message;
  };
  const Case cases[] = {
      {"{}", "6:3: error: routes[0].match: has no condition; to match everything, write 'path: /'"},
      {"{hosts: [], headers: {}}",
       "6:3: error: routes[0].match: has no condition; to match everything, write 'path: /'"},
      {"5", "6:3: error: routes[0].match: must be a block of keys"},
      {"{host: ''}", "6:11: error: routes[0].match.host: must not be empty"},
      {"{hosts: [a, '']}", "6:22: error: routes[0].match.hosts[1]: must not be empty"},
      {"{hosts: [a, [b]]}", "6:22: error: routes[0].match.hosts[1]: must be a text"},
      {"{hosts: a}", "6:11: error: routes[0].match.hosts: must be a list of texts"},
      {"{host: 'a:80'}",
       "6:11: error: routes[0].match.host: 'a:80' has a port; write the host without it"},
      {"{host: '*'}",
       "6:11: error: routes[0].match.host: '*' is not a host; leave the host out to match every "
       "host"},
      {"{path: ''}", "6:11: error: routes[0].match.path: must not be empty"},
      {"{path: a}", "6:11: error: routes[0].match.path: 'a' does not start with '/'"},
      {"{path: '/a?b=c'}",
       "6:11: error: routes[0].match.path: '/a?b=c' has a query; use the key 'query' for it"},
      {"{path: '/a b'}",
       "6:11: error: routes[0].match.path: '/a b' has characters that a path cannot have; write "
       "them percent-encoded"},
      {"{path: '/{a', pathKind: Template}",
       "6:11: error: routes[0].match.path: '{a' is neither text nor one hole, {name} or {name**}"},
      {"{path: '/{a**}/b', pathKind: Template}",
       "6:11: error: routes[0].match.path: the hole for the rest must be the last segment of the "
       "template"},
      {"{path: /, pathKind: Regex}",
       "6:20: error: routes[0].match.pathKind: 'Regex' is not one of: Exact, Prefix, Template"},
      {"{method: get}",
       "6:11: error: routes[0].match.method: 'get' has small letters, and methods are "
       "case-sensitive; write 'GET'"},
      {"{headers: {'a b': c}}", "6:21: error: routes[0].match.headers: 'a b' is not a field name"},
      {"{headers: {a: \"\\n\"}}",
       "6:21: error: routes[0].match.headers: the value of 'a' cannot occur in a field"},
      {"{headers: {a: [b]}}",
       "6:21: error: routes[0].match.headers: the value of 'a' must be a text"},
      {"{query: [a]}", "6:11: error: routes[0].match.query: must be a block of names and values"},
      {"{host: a, pathKind: Exact}",
       "6:20: warning: routes[0].match.pathKind: has no effect without 'path'"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.match);
    EXPECT_THAT(route(c.match), ElementsAre("twp.yaml:" + c.message));
  }
}

TEST(CheckKeyPair, WantsCertificateAndKeyTogether) {
  const TempFolder folder;
  for (const char* name : {"c.pem", "k.pem", "b.pfx"}) folder.write(name, "x");
  struct Case {
    std::string keys;
    std::vector<std::string> messages;  // Without the file name.
  };
  const Case cases[] = {
      {"{certificatePath: c.pem, privateKeyPath: k.pem}", {}},
      {"{certificatePath: b.pfx}", {}},
      {"{certificatePath: c.pem}",
       {":2:16: error: certificates.certificatePath: needs 'privateKeyPath'"}},
      {"{privateKeyPath: k.pem}",
       {":2:16: error: certificates.privateKeyPath: needs 'certificatePath'"}},
      {"{certificatePath: b.pfx, privateKeyPath: k.pem}",
       {":2:40: error: certificates.privateKeyPath: must not be given with PKCS#12, which has the "
        "key in it"}},
      {"{additional: [{certificatePath: c.pem}]}",
       {":2:30: error: certificates.additional[0].certificatePath: needs 'privateKeyPath'"}},
      {"{additional: [{privateKeyPath: k.pem}]}",
       {":2:29: error: certificates.additional[0].certificatePath: is required",
        ":2:30: error: certificates.additional[0].privateKeyPath: needs 'certificatePath'"}},
  };
  const std::string file = folder.at("twp.yaml");
  for (const Case& c : cases) {
    SCOPED_TRACE(c.keys);
    std::vector<std::string> expected;
    for (const std::string& message : c.messages) expected.push_back(file + message);
    EXPECT_EQ(messages("listeners: [{forwardHost: a}]\ncertificates: " + c.keys + "\n", file),
              expected);
  }
}

TEST(CheckLimits, RefusesALineThatIsLargerThanTheHead) {
  EXPECT_THAT(
      server("{limits: {maxHeaderAggregateBytes: 60000}}"),
      ElementsAre("twp.yaml:2:19: error: server.limits.maxHeaderAggregateBytes: one line may "
                  "be larger (65536) than all of them (60000)"));
  EXPECT_THAT(server("{limits: {maxHeaderLineBytes: 300000}}"),
              ElementsAre("twp.yaml:2:19: error: server.limits.maxHeaderLineBytes: one line may be "
                          "larger (300000) than all of them (262144)"));
}

TEST(ReadAlias, RefusesTwoNamesThatContradictEachOther) {
  EXPECT_THAT(server("{pooling: {maxCachedConnections: 1}, "
                     "limits: {maxCachedConnectionsPerHost: 2}}"),
              ElementsAre("twp.yaml:2:55: error: server.limits.maxCachedConnectionsPerHost: "
                          "contradicts server.pooling.maxCachedConnections; they are two names of "
                          "one setting: give one of them"));
}

TEST(CheckLogging, WantsAFileToLogTo) {
  EXPECT_THAT(messages("listeners: [{forwardHost: a}]\nlogging: {enableFile: true}\n"),
              ElementsAre("twp.yaml:2:11: error: logging.enableFile: needs 'filePath'"));
}

}  // namespace
}  // namespace titanium::config
