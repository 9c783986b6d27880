# SPDX-License-Identifier: MIT
"""Pieces that the integration tests are made of: the proxy as a process, raw clients and raw
origins that say and see exact bytes, certificates, and waiting with a deadline."""
