# SPDX-License-Identifier: MIT
"""The sixteen pairs {HTTP/1, HTTP/1 over TLS, h2c, HTTP/2 over TLS}², behind one proxy."""

import itertools

from .origin import server_context
from .proxy import cluster, defaults, destination, listener, merged, route
from .raw import client_context
from .talk import Http1Client, Http2Client, talk_origin

KINDS = ("h1", "h1s", "h2c", "h2s")
CELLS = list(itertools.product(KINDS, KINDS))
CELL_IDS = [f"{client}-{origin}" for client, origin in CELLS]


def is_http2(kind):
    return kind in ("h2c", "h2s")


def is_tls(kind):
    return kind in ("h1s", "h2s")


def cells_config(origins, ca_path, pair, **extra):
    """A clear and a TLS listener; /<kind>/… goes to the origin of that kind."""
    clusters, routes = [], []
    for kind, origin in origins.items():
        keys = {"upstreamHttpProtocol": {"h1": "http11", "h1s": "http11", "h2c": "http2", "h2s": "auto"}[kind]}
        where = destination(origin)
        if is_tls(kind):
            keys["tls"] = {"caPath": ca_path}
            where = destination(origin, address="localhost", useHttps=True)
        clusters.append(cluster(kind, [where], **keys))
        routes.append(route(kind, kind, path=f"/{kind}", pathKind="Prefix"))
    return merged(merged(defaults(), {
        "listeners": [listener(), listener(decryptSsl=True)], "routes": routes, "clusters": clusters,
        "certificates": {"certificatePath": pair.certificate, "privateKeyPath": pair.key},
    }), extra)


class Cells:
    """The proxy, and an origin of each kind whose exchanges run what the test has registered."""

    def __init__(self, start_proxy, start_origin, authority, pair, **extra):
        self.authority = authority
        self.pair = pair
        self.apps = {}
        self.peers = []
        self.origins = {kind: start_origin(self.handler(kind), tls=self.tls(kind)) for kind in KINDS}
        self.config = cells_config(self.origins, authority.certificate, pair, **extra)
        self.proxy = start_proxy(self.config)

    def handler(self, kind, settings=None):
        version = "http2" if is_http2(kind) else "http1"
        return talk_origin(self._run, version, settings, self.peers.append)

    def tls(self, kind):
        alpn = ("h2", "http/1.1") if kind == "h2s" else ("http/1.1",)
        return server_context(self.pair, alpn=alpn) if is_tls(kind) else None

    def _run(self, talk):
        self.apps[int(talk.path.split("/")[2].split("?")[0])](talk)

    def serve(self, kind, app):
        """Registers what the origin does with an exchange; returns the path that leads there."""
        self.apps[len(self.apps)] = app
        return f"/{kind}/{len(self.apps) - 1}"

    def client(self, kind, **options):
        port = self.proxy.tls_port if is_tls(kind) else self.proxy.port
        tls = None
        if is_tls(kind):
            tls = client_context(self.authority.certificate, alpn=("h2",) if is_http2(kind) else ("http/1.1",))
        return (Http2Client if is_http2(kind) else Http1Client)(port, tls, **options)
