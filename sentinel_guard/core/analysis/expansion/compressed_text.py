"""Packs and unpacks the gzip, bzip2 and xz formats in memory, up to a size: ``echo … | base64 -d | gunzip | bash``."""

from __future__ import annotations

import re
import zlib
from typing import Protocol

MAX_UNPACKED = 64 * 1024
"""Bytes; a small text may unpack to gigabytes, and more than this is not looked at."""
MAX_MEMORY = 64 * 1024 * 1024
"""Bytes that the dictionary of an xz text may ask for."""


_MAGIC = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
_NUL = "\ufdd1"
"""Stands for a NUL of packed data: in a text of the analysis a NUL is what is not known."""


def text_of(data: bytes) -> str:
    """Bytes as a text of the analysis."""
    text = data.decode("utf-8", "surrogateescape")
    return text.replace("\0", _NUL) if data.startswith(_MAGIC) else text


def bytes_of(text: str) -> bytes:
    """The bytes of such a text."""
    data = text.encode("utf-8", "surrogateescape")
    return data.replace(_NUL.encode(), b"\0") if data.startswith(_MAGIC) else data


class Decompressor(Protocol):
    """What the three libraries have in common."""

    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def decompressed(form: str, data: bytes) -> bytes:
    """What was packed. Raises ValueError for another format, a text that is cut off, or one that is too long."""
    if form == "gzip":
        reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        return _read(reader, data, zlib.error)
    if form == "bzip2":
        import bz2  # noqa: PLC0415 - hardly any command needs it

        return _read(bz2.BZ2Decompressor(), data, OSError)
    import lzma  # noqa: PLC0415 - hardly any command needs it

    return _read(lzma.LZMADecompressor(memlimit=MAX_MEMORY), data, lzma.LZMAError)


def compressed(form: str, data: bytes) -> bytes:
    """The data in this format: not byte for byte what the program writes, but what it reads as the same."""
    if form == "gzip":
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
        return packer.compress(data) + packer.flush()
    if form == "bzip2":
        import bz2  # noqa: PLC0415 - hardly any command needs it

        return bz2.compress(data)
    import lzma  # noqa: PLC0415 - hardly any command needs it

    return lzma.compress(data, preset=0)


def _read(reader: Decompressor, data: bytes, error: type[Exception]) -> bytes:
    try:
        text = reader.decompress(data, MAX_UNPACKED)
    except (error, EOFError) as found:
        raise ValueError(str(found)) from found
    if not reader.eof:
        raise ValueError("cut off, or too long")
    return text


COMPRESSIONS = {
    **dict.fromkeys(("gzip", "pigz"), ("gzip", False)),
    **dict.fromkeys(("gunzip", "zcat", "gzcat", "unpigz"), ("gzip", True)),
    "bzip2": ("bzip2", False),
    **dict.fromkeys(("bunzip2", "bzcat"), ("bzip2", True)),
    "xz": ("xz", False),
    **dict.fromkeys(("unxz", "xzcat"), ("xz", True)),
}
"""Program -> the format, and whether it undoes it."""
_WORDS = {"--decompress": "-d", "--uncompress": "-d", "--stdout": "-c", "--to-stdout": "-c", "-": "-c"}


def filtered(name: str, words: tuple[str, ...], stdin: str) -> str | None:
    """What such a program makes of its standard input; None with other words than plain options."""
    given = [_WORDS.get(word, word) for word in words]
    if not all(re.fullmatch(r"-[cdfkqn1-9]+|--(?:best|fast|no-name|quiet|force|keep)", word) for word in given):
        return None
    form, undoes = COMPRESSIONS[name]
    if not (undoes or any("d" in word for word in given if word[1] != "-")):
        return text_of(compressed(form, bytes_of(stdin)))
    try:
        return text_of(decompressed(form, bytes_of(stdin)))
    except ValueError:
        return None
