// SPDX-License-Identifier: MIT
#include "config/schema.h"

#include <algorithm>
#include <array>

namespace titanium::config {
namespace {

constexpr std::int64_t kMaxCount = 1'000'000'000;
constexpr std::int64_t kMaxSeconds = 366LL * 24 * 3600;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;

constexpr auto kListenerTypes =
    std::to_array<std::string_view>({"transparent", "explicit", "socks", "quic"});
constexpr auto kPathKinds = std::to_array<std::string_view>({"Exact", "Prefix", "Template"});
constexpr auto kAlgorithms =
    std::to_array<std::string_view>({"RoundRobin", "Random", "LeastRequests", "LeastTime"});
constexpr auto kUpstreamProtocols = std::to_array<std::string_view>({"auto", "http11", "http2"});
constexpr auto kForwarded =
    std::to_array<std::string_view>({"None", "XForwarded", "Forwarded", "Both"});
constexpr auto kTlsVersions = std::to_array<std::string_view>({"Tls12", "Tls13"});
constexpr auto kLogLevels = std::to_array<std::string_view>(
    {"Trace", "Debug", "Information", "Warning", "Error", "Critical"});

// clang-format off: a row of the table is easier to read as it stands here.
constexpr auto kRows = std::to_array<Row>({
    {.path = "schemaVersion", .type = Type::text,
     .help = "Version of the schema that the file was written for. Informational: not checked."},

    {.path = "listeners[]", .type = Type::sections, .required = true,
     .help = "Where clients connect. At least one. Every route serves every listener."},
    {.path = "listeners[].host", .type = Type::bind_address, .default_text = "0.0.0.0",
     .help = "IPv4 or IPv6 address to listen on; `*` is `0.0.0.0`, `localhost` is `127.0.0.1`."},
    {.path = "listeners[].port", .type = Type::integer, .default_text = "8000", .max = 65535,
     .help = "Port to listen on. 0: a free one, which is printed at the start."},
    {.path = "listeners[].type", .type = Type::word, .default_text = "transparent",
     .words = kListenerTypes,
     .help = "Kind of listener. This version has `transparent` (reverse proxy) only."},
    {.path = "listeners[].decryptSsl", .type = Type::boolean, .default_text = "false",
     .help = "Terminate TLS here, with the certificates of `certificates`."},
    {.path = "listeners[].forwardHost", .type = Type::host,
     .help = "Origin of all requests that no route takes. Without it they are answered with 404."},
    {.path = "listeners[].forwardPort", .type = Type::integer,
     .default_text = "80, or 443 with forwardHttps", .min = 1, .max = 65535,
     .literal_default = false, .help = "Port of that origin."},
    {.path = "listeners[].forwardHttps", .type = Type::boolean, .default_text = "false",
     .help = "Use TLS to that origin."},
    {.path = "listeners[].upstreamHttpProtocol", .type = Type::word, .default_text = "auto",
     .words = kUpstreamProtocols,
     .help = "What is spoken to that origin; see `clusters[].upstreamHttpProtocol`."},
    {.path = "listeners[].enableHttp2", .type = Type::boolean,
     .help = "Offer HTTP/2 to clients: with `decryptSsl` by ALPN, without by prior knowledge "
             "(h2c) beside HTTP/1. Absent: `server.enableHttp2`."},
    {.path = "listeners[].maxConcurrentClients", .type = Type::integer, .min = 1, .max = kMaxCount,
     .help = "Connections on this listener at one time; further ones are refused. "
             "Absent: no limit but `server.pooling.maxConcurrentClientConnections`."},
    {.path = "listeners[].maxCachedConnections", .type = Type::integer, .max = kMaxCount,
     .help = "Idle connections that requests of this listener leave behind, kept per worker for each "
             "origin: `forwardHost` and the destinations of all clusters. Listeners with the same "
             "value share the connections to clusters. "
             "Absent: `server.pooling.maxCachedConnections`."},

    {.path = "routes[]", .type = Type::sections,
     .help = "Which requests go to which cluster. The lowest `order` wins; of routes with the same "
             "order the more specific one: by path (Exact, Template, then the longer Prefix), then "
             "by host (a name, a wildcard, none), then by the number of other conditions, then the "
             "one that comes first in the file."},
    {.path = "routes[].id", .type = Type::text, .required = true,
     .help = "Name of the route, unique."},
    {.path = "routes[].clusterId", .type = Type::text, .required = true,
     .help = "The `id` of a cluster."},
    {.path = "routes[].order", .type = Type::integer, .default_text = "0", .min = -1'000'000'000,
     .max = kMaxCount, .help = "Rank: lower wins."},
    {.path = "routes[].match", .type = Type::section, .required = true,
     .help = "Conditions that a request has to meet, all of them. At least one. `{path: /}` takes "
             "every request."},
    {.path = "routes[].match.host", .type = Type::host_pattern,
     .help = "Host of the request without port, in any case. `*.example.com` takes every name "
             "below `example.com`, but not `example.com`."},
    {.path = "routes[].match.hosts", .type = Type::host_patterns,
     .help = "Several of those; one has to match. Added to `host`."},
    {.path = "routes[].match.path", .type = Type::path,
     .help = "Path of the request without its query. Both sides are normalised first: `%41` is "
             "`A`, `/a/../b` is `/b`."},
    {.path = "routes[].match.pathKind", .type = Type::word, .default_text = "Prefix",
     .words = kPathKinds,
     .help = "`Exact`: the whole path. `Prefix`: how it begins, character by character: `/api` "
             "takes `/apis` too, `/api/` does not. `Template`: segments, where `{name}` stands for "
             "one and `{name**}` at the end for all that follow, as in `/users/{id}/{rest**}`."},
    {.path = "routes[].match.method", .type = Type::method,
     .help = "Method, in capitals as it is sent."},
    {.path = "routes[].match.methods", .type = Type::methods,
     .help = "Several of those; one has to match. Added to `method`."},
    {.path = "routes[].match.headers", .type = Type::header_pairs,
     .help = "Names to values: the request has a field line of this name (in any case) with "
             "exactly this value."},
    {.path = "routes[].match.query", .type = Type::text_pairs,
     .help = "Names to values: the query has a parameter of this name with exactly this value, "
             "both percent-decoded."},
    {.path = "routes[].limits", .type = Type::section,
     .help = "Limits for requests of this route."},
    {.path = "routes[].limits.requestTimeoutSeconds", .type = Type::seconds, .max = kMaxSeconds,
     .help = "Instead of `server.timeouts.requestTimeoutSeconds`. 0: off."},
    {.path = "routes[].limits.idleTimeoutSeconds", .type = Type::seconds, .max = kMaxSeconds,
     .help = "Instead of `server.timeouts.idleReadTimeoutSeconds` and `idleWriteTimeoutSeconds`. "
             "0: off."},

    {.path = "clusters[]", .type = Type::sections,
     .help = "Groups of origins that serve the same."},
    {.path = "clusters[].id", .type = Type::text, .required = true,
     .help = "Name of the cluster, unique."},
    {.path = "clusters[].algorithm", .type = Type::word, .default_text = "RoundRobin",
     .words = kAlgorithms,
     .help = "How a destination is chosen, always by weight. `LeastTime` is not available in this "
             "version. A destination that failed three times in a row is set aside for 10 s."},
    {.path = "clusters[].upstreamHttpProtocol", .type = Type::word, .default_text = "auto",
     .words = kUpstreamProtocols,
     .help = "What is spoken to the destinations. `auto`: with TLS what the origin chooses by ALPN, "
             "HTTP/2 if it can; without TLS HTTP/1.1. `http2`: HTTP/2 only, without TLS by prior "
             "knowledge (h2c)."},
    {.path = "clusters[].destinations[]", .type = Type::sections, .required = true,
     .help = "The origins. At least one."},
    {.path = "clusters[].destinations[].id", .type = Type::text,
     .default_text = "address:port", .literal_default = false,
     .help = "Name for logs, unique in the cluster."},
    {.path = "clusters[].destinations[].address", .type = Type::host, .required = true,
     .help = "Name or IP address. Names are resolved again and again, as their TTL says."},
    {.path = "clusters[].destinations[].port", .type = Type::integer,
     .default_text = "80, or 443 with useHttps", .min = 1, .max = 65535, .literal_default = false,
     .help = "Port."},
    {.path = "clusters[].destinations[].useHttps", .type = Type::boolean, .default_text = "false",
     .help = "Use TLS to this origin."},
    {.path = "clusters[].destinations[].useDestinationHost", .type = Type::boolean,
     .default_text = "false",
     .help = "Send the destination's address as Host, instead of what the client asked for."},
    {.path = "clusters[].destinations[].weight", .type = Type::integer, .default_text = "1",
     .min = 1, .max = 1'000'000,
     .help = "Share of the requests, relative to the other destinations."},
    {.path = "clusters[].tls", .type = Type::section,
     .help = "TLS to destinations with `useHttps`."},
    {.path = "clusters[].tls.caPath", .type = Type::input_file,
     .help = "PEM file with the authorities to trust. Absent: those of the system."},
    {.path = "clusters[].tls.serverName", .type = Type::host,
     .help = "Name to ask for (SNI) and to verify. Absent: the destination's address."},
    {.path = "clusters[].tls.clientCertificatePath", .type = Type::input_file,
     .help = "Certificate to show to origins that ask for one: PEM, or PKCS#12 (.pfx, .p12)."},
    {.path = "clusters[].tls.clientPrivateKeyPath", .type = Type::input_file,
     .help = "Its key in PEM. Not with PKCS#12."},
    {.path = "clusters[].tls.ignoreServerCertificateErrors", .type = Type::boolean,
     .help = "Accept any certificate. Absent: `server.ignoreServerCertificateErrors`."},

    {.path = "server", .type = Type::section, .help = "Settings of the whole proxy."},
    {.path = "server.viaHeaderPseudonym", .type = Type::token, .default_text = "titanium",
     .help = "Name of this proxy in Via, also used to find loops (508). A token; an empty text "
             "disables both."},
    {.path = "server.enableHttp2", .type = Type::boolean, .default_text = "true",
     .help = "HTTP/2 with clients and, where `upstreamHttpProtocol` is `auto`, with origins."},
    {.path = "server.enableRfc8441", .type = Type::boolean, .default_text = "true",
     .help = "Let clients open WebSockets over HTTP/2 (extended CONNECT). Other protocols than "
             "`websocket` are refused."},
    {.path = "server.ignoreServerCertificateErrors", .type = Type::boolean,
     .default_text = "false",
     .help = "Accept any certificate of origins. For tests: it takes away what TLS is for."},
    {.path = "server.forwardedHeaders", .type = Type::word, .default_text = "XForwarded",
     .words = kForwarded,
     .help = "Fields that tell the origin about the client: `X-Forwarded-For`, `-Proto` and "
             "`-Host`, or `Forwarded` (RFC 7239)."},
    {.path = "server.trustForwardedHeaders", .type = Type::boolean, .default_text = "false",
     .help = "Append to such fields that a request brings along. Set it only behind a proxy that "
             "you trust; else they are replaced."},
    {.path = "server.dnsServerEndPoint", .type = Type::endpoint,
     .help = "DNS server as `address` or `address:port`. Absent: those of the system."},
    {.path = "server.accessLog", .type = Type::section,
     .help = "One line of JSON for each exchange. Costs nothing when absent."},
    {.path = "server.accessLog.path", .type = Type::output_file,
     .help = "File to append to. Absent: no access log."},
    {.path = "server.accessLog.sampleRate", .type = Type::number, .default_text = "1", .max = 1,
     .help = "Share of the exchanges to log."},

    {.path = "server.timeouts", .type = Type::section,
     .help = "Time-outs. Fractions are allowed: `0.5`. 0 switches one off."},
    {.path = "server.timeouts.connectionTimeOutSeconds", .type = Type::seconds,
     .default_text = "60", .max = kMaxSeconds,
     .help = "A connection without a byte in either direction: kept-alive client connections, "
             "pooled origin connections, and reads and writes that have no time-out of their own."},
    {.path = "server.timeouts.connectTimeOutSeconds", .type = Type::seconds, .default_text = "20",
     .max = kMaxSeconds, .help = "Name look-up, connection and TLS handshake to an origin."},
    {.path = "server.timeouts.clientHandshakeTimeoutSeconds", .type = Type::seconds,
     .default_text = "10", .max = kMaxSeconds, .help = "TLS handshake of a client."},
    {.path = "server.timeouts.clientHeaderTimeoutSeconds", .type = Type::seconds,
     .default_text = "30", .max = kMaxSeconds,
     .help = "From the first byte of a request head to its last (408)."},
    {.path = "server.timeouts.responseHeaderTimeoutSeconds", .type = Type::seconds,
     .default_text = "0", .max = kMaxSeconds,
     .help = "From the end of the request to the response head (504)."},
    {.path = "server.timeouts.idleReadTimeoutSeconds", .type = Type::seconds, .default_text = "0",
     .max = kMaxSeconds,
     .help = "No byte of the response comes. 0: `connectionTimeOutSeconds` counts."},
    {.path = "server.timeouts.idleWriteTimeoutSeconds", .type = Type::seconds,
     .default_text = "0", .max = kMaxSeconds,
     .help = "The origin takes no byte of the request. 0: `connectionTimeOutSeconds` counts."},
    {.path = "server.timeouts.requestTimeoutSeconds", .type = Type::seconds, .default_text = "0",
     .max = kMaxSeconds, .help = "The whole exchange (504)."},
    {.path = "server.timeouts.tunnelIdleTimeoutSeconds", .type = Type::seconds,
     .default_text = "3600", .max = kMaxSeconds,
     .help = "An upgraded connection (WebSocket) or an event stream without a byte."},
    {.path = "server.timeouts.networkFailureRetryAttempts", .type = Type::integer,
     .default_text = "1", .max = 7,
     .help = "Further attempts after an origin failed, if the request was certainly not processed, or "
             "is idempotent and got no answer."},
    {.path = "server.timeouts.drainTimeoutSeconds", .type = Type::seconds, .default_text = "10",
     .max = kMaxSeconds,
     .help = "How long open exchanges may go on after a stop signal. 0: cut at once."},

    {.path = "server.pooling", .type = Type::section, .help = "Connections and threads."},
    {.path = "server.pooling.enableConnectionPool", .type = Type::boolean, .default_text = "true",
     .help = "Use origin connections again."},
    {.path = "server.pooling.enableIpv6UnreachableSoftSkip", .type = Type::boolean,
     .default_text = "true",
     .help = "After IPv6 turned out to be unreachable, try it last for 30 s."},
    {.path = "server.pooling.noDelay", .type = Type::boolean, .default_text = "true",
     .help = "TCP_NODELAY on both legs."},
    {.path = "server.pooling.enableTcpKeepAlive", .type = Type::boolean, .default_text = "true",
     .help = "SO_KEEPALIVE on both legs."},
    {.path = "server.pooling.maxCachedConnections", .type = Type::integer, .default_text = "128",
     .max = kMaxCount, .help = "Idle connections kept per destination and worker."},
    {.path = "server.pooling.maxConcurrentClientConnections", .type = Type::integer, .min = 1,
     .max = kMaxCount,
     .help = "Client connections at one time, all listeners together. Absent: no limit."},
    {.path = "server.pooling.threadPoolWorkerThread", .type = Type::integer, .min = 1, .max = 1024,
     .help = "Number of workers. Absent: one per core."},
    {.path = "server.pooling.listenerBackLog", .type = Type::integer, .default_text = "1024",
     .min = 1, .max = 1'000'000, .help = "Connections that may wait to be accepted."},

    {.path = "server.limits", .type = Type::section,
     .help = "Bounds for what a peer may send. A client that goes over one gets the status given "
             "here; an origin that does so gives 502."},
    {.path = "server.limits.maxHeaderLineBytes", .type = Type::integer, .default_text = "65536",
     .min = 256, .max = 16'777'216,
     .help = "One line of a head: request line (414) or field (431)."},
    {.path = "server.limits.maxHeaderCount", .type = Type::integer, .default_text = "256",
     .min = 1, .max = 100'000, .help = "Field lines of a head (431)."},
    {.path = "server.limits.maxHeaderAggregateBytes", .type = Type::integer,
     .default_text = "262144", .min = 256, .max = 67'108'864, .help = "A whole head (431)."},
    {.path = "server.limits.maxTrailerHeaderCount", .type = Type::integer, .default_text = "100",
     .max = 10'000, .help = "Field lines of a trailer section."},
    {.path = "server.limits.maxTrailerHeaderBlockBytes", .type = Type::integer,
     .default_text = "16384", .min = 256, .max = 1'048'576, .help = "A whole trailer section."},
    {.path = "server.limits.maxInterimResponses", .type = Type::integer, .default_text = "20",
     .max = 100, .help = "1xx responses of an origin to one request."},
    {.path = "server.limits.maxConcurrentStreamsPerConnection", .type = Type::integer,
     .default_text = "256", .min = 1, .max = 100'000,
     .help = "HTTP/2: requests at one time on a connection. Advertised, and enforced."},
    {.path = "server.limits.maxPeerInitiatedIncompleteStreamResets", .type = Type::integer,
     .default_text = "100", .min = 1, .max = kMaxCount,
     .help = "HTTP/2: requests of a client connection that end in a reset before their response is "
             "complete, per minute, whoever resets them. More end the connection."},
    {.path = "server.limits.maxDecodedHeaderListBytes", .type = Type::integer,
     .default_text = "65536", .min = 1024, .max = 16'777'216,
     .help = "HTTP/2: a head after decompression, with 32 bytes more per field (431)."},
    {.path = "server.limits.maxHttp2CompressedHeaderBlockBytes", .type = Type::integer,
     .default_text = "262144", .min = 1024, .max = 16'777'216,
     .help = "HTTP/2: a head as it is received. More ends the connection."},
    {.path = "server.limits.maxOpenHeaderBlockFrames", .type = Type::integer,
     .default_text = "128", .min = 1, .max = 100'000,
     .help = "HTTP/2: frames of one head. More end the connection."},
    {.path = "server.limits.maxOpenHeaderBlockDurationSeconds", .type = Type::seconds,
     .default_text = "10", .max = kMaxSeconds,
     .help = "HTTP/2: from the first frame of a head to its last. 0: off."},
    {.path = "server.limits.maxOriginHttp2ConnectionsPerAuthority", .type = Type::integer,
     .default_text = "8", .min = 1, .max = 100'000,
     .help = "HTTP/2 connections per destination and worker. A further one is opened only when the "
             "streams of the others are used up."},
    {.path = "server.limits.minRequestBodyBytesPerSecond", .type = Type::integer,
     .default_text = "100", .max = kMaxBytes,
     .help = "Slowest request body, on the average of one `connectionTimeOutSeconds`, while no "
             "response has begun (408). 0: any. While a response goes on, the client may be "
             "silent."},
    {.path = "server.limits.maxRequestBodyBytes", .type = Type::integer, .max = kMaxBytes,
     .help = "Body of a request (413). Absent: no limit."},
    {.path = "server.limits.maxConcurrentClients", .type = Type::integer, .min = 1,
     .max = kMaxCount,
     .help = "Another name of `server.pooling.maxConcurrentClientConnections`."},
    {.path = "server.limits.maxCachedConnectionsPerHost", .type = Type::integer,
     .default_text = "128", .max = kMaxCount,
     .help = "Another name of `server.pooling.maxCachedConnections`."},
    {.path = "server.limits.connectionPoolingEnabled", .type = Type::boolean,
     .default_text = "true", .help = "Another name of `server.pooling.enableConnectionPool`."},

    {.path = "server.tls", .type = Type::section, .help = "TLS of listeners with `decryptSsl`."},
    {.path = "server.tls.supportedSslProtocols", .type = Type::words,
     .default_text = "[Tls12, Tls13]", .words = kTlsVersions,
     .help = "Versions that clients may use."},
    {.path = "server.tls.keyLogPath", .type = Type::output_file,
     .help = "File for the keys of all TLS connections, which Wireshark can read. Absent: the one "
             "that the environment variable `SSLKEYLOGFILE` names, if any."},

    {.path = "certificates", .type = Type::section,
     .help = "Certificates for listeners with `decryptSsl`, chosen by the name that the client "
             "asks for. Without any, one is made by the local authority in your own folder."},
    {.path = "certificates.certificatePath", .type = Type::input_file,
     .help = "Certificate and its chain: PEM, or PKCS#12 (.pfx, .p12) whose password is in the "
             "environment variable `TITANIUM_CERT_PASSWORD`. Also serves clients that ask for no "
             "name or an unknown one."},
    {.path = "certificates.privateKeyPath", .type = Type::input_file,
     .help = "Its key in PEM. Not with PKCS#12."},
    {.path = "certificates.additional[]", .type = Type::sections, .help = "Further certificates."},
    {.path = "certificates.additional[].certificatePath", .type = Type::input_file,
     .required = true, .help = "As above."},
    {.path = "certificates.additional[].privateKeyPath", .type = Type::input_file,
     .help = "As above."},

    {.path = "logging", .type = Type::section, .help = "The log of the proxy itself."},
    {.path = "logging.enabled", .type = Type::boolean, .default_text = "true",
     .help = "Switch for all of it."},
    {.path = "logging.minimumLevel", .type = Type::word, .default_text = "Error",
     .words = kLogLevels, .help = "What is less important than this is not logged."},
    {.path = "logging.enableConsole", .type = Type::boolean, .default_text = "true",
     .help = "Log to the standard error stream."},
    {.path = "logging.enableConsoleColors", .type = Type::boolean, .default_text = "true",
     .help = "In colour, if it is a terminal and `NO_COLOR` is not set."},
    {.path = "logging.enableFile", .type = Type::boolean, .default_text = "false",
     .help = "Log to `filePath`."},
    {.path = "logging.filePath", .type = Type::output_file, .help = "The log file."},
    {.path = "logging.maxFileSizeBytes", .type = Type::integer, .default_text = "10485760",
     .min = 4096, .max = kMaxBytes, .help = "Size at which a new file is begun."},
    {.path = "logging.maxRolledFiles", .type = Type::integer, .default_text = "5", .max = 1000,
     .help = "Old files that are kept."},
    {.path = "logging.queueCapacity", .type = Type::integer, .default_text = "8192", .min = 1,
     .max = 1'048'576,
     .help = "Lines that may wait to be written. When more come, the oldest are dropped and counted, "
             "so that a slow disk never slows traffic."},
});

constexpr auto kIgnored = std::to_array<std::string_view>({
    "staticFiles", "plus", "xds",
    "listeners[].enableHttp3", "listeners[].genericCertificateName",
    "listeners[].maxInboundBidirectionalStreams", "listeners[].maxInboundUnidirectionalStreams",
    "listeners[].handshakeTimeoutSeconds", "listeners[].idleTimeoutSeconds",
    "listeners[].enableHttpInterception",
    "routes[].transforms", "routes[].redirect", "routes[].directResponse", "routes[].errorPages",
    "routes[].clusters", "routes[].limits.maxBufferedBodyBytes",
    "routes[].limits.maxWebSocketFramePayloadBytes",
    "clusters[].affinityCookie", "clusters[].affinityHeader",
    "server.profile", "server.enableHttp3",
    "server.enableQpackDynamicTable", "server.enableHttpsSvcbDnsDiscovery",
    "server.enable100ContinueBehaviour", "server.compatibilityMode100Continue",
    "server.enableWinAuth", "server.originHttpVersionPolicy",
    "server.blockPrivateNetworkDestinations", "server.blockLoopbackDestinations",
    "server.checkCertificateRevocation", "server.proxyAuthenticationRealm",
    "server.decryptSkipHosts", "server.decryptOnlyHosts", "server.systemProxyBypassHosts",
    "server.proxyLoopback", "server.enableDecryptFailureBypass",
    "server.decryptFailureBypassThreshold", "server.decryptFailureBypassMaxEntries",
    "server.decryptFailureBypassTtlMinutes", "server.policyModes", "server.upstream",
    "server.certificateManager", "server.reloadListeners",
    "server.tls.supportedServerSslProtocols",
    "server.pooling.enableTcpServerConnectionPrefetch", "server.pooling.reuseSocket",
    "server.pooling.maxConcurrentHttp11HttpsOriginCreates", "server.pooling.tcpTimeWaitSeconds",
    "server.limits.maxEncodedBodyBytes", "server.limits.maxDecodedBodyBytes",
    "server.limits.maxDecompressionRatio",
    "server.limits.maxCertificateCacheEntries", "server.limits.maxCertificateDiskCacheEntries",
    "server.limits.maxBufferedBodyBytes",
    "server.limits.maxWebSocketFramePayloadBytes", "server.limits.maxHttp3FramePayloadBytes",
    "server.limits.maxDeferredOutboundBytesPerStream",
    "server.limits.maxAuthChallengeRounds",
    "server.limits.maxUpstreamProxyAuthenticationAttempts", "server.limits.maxWinAuthTokenBytes",
    "server.limits.http2WindowUpdateTimeoutSeconds",
    "certificates.acmeEmail", "certificates.acmeDomain", "certificates.acmeDirectory",
});
// clang-format on

// "a.b[]" for a list, whose items are blocks, and "a.b" else: the parent that its keys have.
static_assert(kRows[1].key() == "listeners" && kRows[1].parent().empty());
static_assert(std::ranges::none_of(kRows, [](const Row& row) { return row.help.empty(); }));
static_assert(std::ranges::all_of(kRows, [](const Row& row) {
  const bool has_range =
      row.type == Type::integer || row.type == Type::number || row.type == Type::seconds;
  return has_range == (row.max > row.min);
}));
static_assert(std::ranges::all_of(kRows, [](const Row& row) {
  return (row.type == Type::word || row.type == Type::words) == !row.words.empty();
}));

}  // namespace

std::span<const Row> schema() noexcept { return kRows; }

std::span<const std::string_view> ignored_keys() noexcept { return kIgnored; }

const Row* find_row(std::string_view parent, std::string_view key) noexcept {
  const auto row = std::ranges::find_if(
      kRows, [&](const Row& r) { return r.parent() == parent && r.key() == key; });
  return row == kRows.end() ? nullptr : &*row;
}

bool is_ignored(std::string_view parent, std::string_view key) noexcept {
  return std::ranges::any_of(kIgnored, [&](std::string_view path) {
    const Row row{.path = path};
    return row.parent() == parent && row.key() == key;
  });
}

}  // namespace titanium::config
