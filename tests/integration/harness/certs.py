# SPDX-License-Identifier: MIT
"""Certificates for tests, made with the openssl command."""

import pathlib
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class KeyPair:
    certificate: str
    key: str


class TestAuthority:
    """A CA of its own that signs leaves, in a folder of its own."""

    __test__ = False  # Not a test class, whatever its name says to pytest.

    def __init__(self, folder, name="Integration Test CA"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.certificate = str(self.folder / "ca.pem")
        self._key = str(self.folder / "ca.key")
        self._pairs = {}
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-keyout", self._key, "-out", self.certificate, "-days", "30",
                 "-subj", f"/CN={name}", "-addext", "basicConstraints=critical,CA:TRUE",
                 "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    def leaf(self, *names, days=10):
        """A server (and client) certificate for DNS names or IP addresses; made once per set."""
        if (names, days) in self._pairs:
            return self._pairs[names, days]
        stem = self.folder / f"leaf{len(self._pairs)}"
        alternatives = ",".join(
            f"IP:{name}" if name.replace(".", "").isdigit() or ":" in name else f"DNS:{name}"
            for name in names)
        request, extensions = f"{stem}.csr", f"{stem}.ext"
        pathlib.Path(extensions).write_text(
            f"subjectAltName={alternatives}\nextendedKeyUsage=serverAuth,clientAuth\n",
            encoding="ascii")
        pair = KeyPair(f"{stem}.pem", f"{stem}.key")
        _openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-keyout", pair.key, "-out", request, "-subj", f"/CN={names[0]}")
        validity = ["-days", str(days)]
        if days < 0:  # Expired since yesterday.
            validity = ["-not_before", "20200101000000Z", "-not_after", "20200201000000Z"]
        _openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key,
                 "-out", pair.certificate, "-extfile", extensions, *validity)
        self._pairs[names, days] = pair
        return pair


def _openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"openssl {' '.join(arguments)}: {done.stderr}"
