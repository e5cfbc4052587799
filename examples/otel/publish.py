"""Publishes the resource of this process in a mapping OTEL_CTX, as OpenTelemetry's enhancement
proposal 4719 describes it, for SDKs that do not do that yet. It needs Linux.

    import publish
    publish.resource(tracer_provider.resource.attributes)
"""

import ctypes
import mmap
import os
import struct
import time

_mapping = None


def _field(number, content):
    size, n = b"", len(content)
    while n > 127:
        size, n = size + bytes([n & 127 | 128]), n >> 7
    return bytes([number << 3 | 2]) + size + bytes([n]) + content


def resource(attributes):
    """Publishes attributes, a mapping of texts, instead of those of before."""
    global _mapping
    pairs = b""
    for name, value in attributes.items():
        value = _field(2, _field(1, str(value).encode()))
        pairs += _field(1, _field(1, name.encode()) + value)
    payload = _field(1, pairs)
    if _mapping is None:
        fd = os.memfd_create("OTEL_CTX")
        os.ftruncate(fd, 65536)
        _mapping = mmap.mmap(fd, 65536, flags=mmap.MAP_PRIVATE)
        _mapping.madvise(mmap.MADV_DONTFORK)
        os.close(fd)
    if len(payload) > len(_mapping) - 32:
        raise ValueError("the attributes have more than 64 KiB")
    address = ctypes.addressof(ctypes.c_char.from_buffer(_mapping))
    _mapping[16:24] = bytes(8)  # readers wait until the time is there
    _mapping[32 : 32 + len(payload)] = payload
    _mapping[8:16] = struct.pack("<II", 2, len(payload))
    _mapping[24:32] = struct.pack("<Q", address + 32)
    _mapping[16:24] = struct.pack("<Q", time.clock_gettime_ns(time.CLOCK_BOOTTIME))
    _mapping[0:8] = b"OTEL_CTX"
