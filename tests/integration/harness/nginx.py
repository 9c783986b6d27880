# SPDX-License-Identifier: MIT
"""nginx as an independent origin that serves a tree of files, clear and with TLS."""

import os
import pathlib
import shutil
import socket
import subprocess

from .wait import free_port, wait_until

CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
{user}
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  types {{ text/html html; text/plain txt; }}
  default_type application/octet-stream;
  sendfile on;
  keepalive_requests 100000;
  server {{
    listen 127.0.0.1:{port};
    listen 127.0.0.1:{tls_port} ssl;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    root {root};
    etag on;
  }}
}}
"""


def find_nginx():
    return shutil.which("nginx") or next(
        (path for path in ("/usr/sbin/nginx", "/usr/local/sbin/nginx") if os.access(path, os.X_OK)), None)


class Nginx:
    """Serves `root` until stop(). `clear` and `tls` can be used like a scripted origin's host and port."""

    class Address:
        def __init__(self, port):
            self.host, self.port = "127.0.0.1", port

    def __init__(self, folder, root, pair):
        folder = pathlib.Path(folder)
        self.clear, self.tls = self.Address(free_port()), self.Address(free_port())
        self.config = folder / "nginx.conf"
        self.config.write_text(CONFIG.format(
            folder=folder, root=root, port=self.clear.port, tls_port=self.tls.port,
            certificate=pair.certificate, key=pair.key,
            # A worker that drops root cannot read a folder that only root may enter.
            user="user root;" if os.geteuid() == 0 else ""), encoding="ascii")
        self.log = folder / "error.log"
        self.process = subprocess.Popen([find_nginx(), "-p", str(folder), "-c", str(self.config)],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wait_until(self._is_up, "nginx to listen")

    def _is_up(self):
        assert self.process.poll() is None, self.process.stderr.read().decode()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.clear.port)) == 0

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stderr.close()
