"""Mutations of inputs that keep their structure, so that readers get past their first checks.

A mutation knows the structure of a format (rows, JSON trees, elements, chunks) and breaks it in
one place at a time, mostly with values that readers often get wrong.
"""

from __future__ import annotations

import io
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

Change = Callable[[bytes, Random], bytes]
"""Returns a mutated copy of a file's bytes; the generator is its only randomness."""

Item = TypeVar("Item")

TOKENS = (
    *(b"", b" ", b"0", b"1", b"2", b"-1", b"-0.0", b"0.5", b"1.5", b"100", b"65536", b"1e-320"),
    *(b"nan", b"inf", b"-inf", b"1e308", b"-1e308", b"1e400", b"9007199254740993"),
    *(b"2147483647", b"2147483648", b"4294967295", b"4294967296", b"9223372036854775807"),
    *(b"-9223372036854775808", b"9223372036854775808", b"18446744073709551616", b"9" * 400),
    *(b"0x10", b"1_0", b"+1", b"01", b"1.", b".5", b"1e", b"--1", b"null", b"true", b"None"),
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", "٣".encode(), b'"', b"'", b"=1+1"),
    *(b"DontCare", b"ignore|crowd", b"dont_care_frame", b"a/b", b"..", b"x" * 300),
)
"""Words that a reader may mistake for something else."""

_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_MARKUP = re.compile(rb"<[^>]*>|[^<]+")
_SEPARATORS = (b",", b" ", b"\t", b";", b"=", b":")


def of_bytes(data: bytes, chance: Random) -> bytes:
    """Change some bytes of any file."""
    changed = bytearray(data)
    start = chance.randrange(len(changed) + 1)
    length = min(len(changed) - start, chance.choice((1, 1, 1, 2, 4, 8, 40)))
    match chance.randrange(7):
        case 0 if changed:
            place = chance.randrange(len(changed))
            changed[place] ^= 1 << chance.randrange(8)
        case 1:
            del changed[start : start + length]
        case 2:
            changed[start:start] = chance.randbytes(length or 1)
        case 3:
            changed[start:start] = changed[start : start + length] * chance.choice((1, 2, 30))
        case 4:
            number = chance.choice((0, 1, -1, 1 << 31, (1 << 31) - 1, 1 << 16, 255))
            form = chance.choice(("<i", ">i", "<q", ">q", "<h"))
            size = struct.calcsize(form)
            wrapped = (number & ((1 << 8 * size) - 1)).to_bytes(
                size, "little" if form[0] == "<" else "big"
            )
            changed[start : start + size] = wrapped
        case 5:
            del changed[start:]
        case _:
            changed[start : start + length] = chance.choice(TOKENS)
    return bytes(changed)


def of_list(items: Sequence[Item], chance: Random) -> list[Item]:
    """Leave an item out, repeat it, or swap two items."""
    changed = list(items)
    if not changed:
        return changed
    first, second = chance.randrange(len(changed)), chance.randrange(len(changed))
    match chance.randrange(5):
        case 0:
            del changed[first]
        case 1:
            changed.insert(second, changed[first])
        case 2:
            changed[first], changed[second] = changed[second], changed[first]
        case 3:
            del changed[min(first, second) : max(first, second)]
        case _:
            changed[first] = changed[second]
    return changed


def of_number(data: bytes, chance: Random) -> bytes:
    """Replace a number in a text by another number, or by something that is not a number."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return of_bytes(data, chance)
    match = chance.choice(found)
    other = chance.choice((chance.choice(TOKENS), chance.choice(found)[0], b"%d" % _near(match[0])))
    return data[: match.start()] + other + data[match.end() :]


def _near(text: bytes) -> int:
    """A number close to that of a text."""
    return int(float(text[:300])) + (1 if text[-1] % 2 else -1) if len(text) < 18 else 0


def of_rows(data: bytes, chance: Random) -> bytes:
    """Change rows of fields: a field, a row, a column, the separator or the line endings."""
    lines = data.split(b"\n")
    row = chance.randrange(len(lines))
    separator = max(_SEPARATORS, key=lines[row].count)
    fields = lines[row].split(separator)
    match chance.randrange(10):
        case 0 | 1 | 2:
            fields[chance.randrange(len(fields))] = chance.choice(TOKENS)
            lines[row] = separator.join(fields)
        case 3:
            lines[row] = of_number(lines[row], chance)
        case 4:
            lines[row] = separator.join(of_list(fields, chance))
        case 5 | 6:
            lines = of_list(lines, chance)
        case 7:
            return chance.choice((b"\r\n", b"\r", b"\n\n", b" \n")).join(lines)
        case 8:
            column = chance.randrange(len(fields))
            rows = [line.split(separator) for line in lines]
            kept = [[*fields[:column], *fields[column + 1 :]] for fields in rows]
            lines = [separator.join(fields) for fields in kept]
        case _:
            return of_bytes(data, chance)
    return b"\n".join(lines)


def of_markup(data: bytes, chance: Random) -> bytes:
    """Change XML elements: leave one out, repeat it, rename it, or change its text."""
    pieces = _MARKUP.findall(data)
    if not pieces:
        return of_bytes(data, chance)
    place = chance.randrange(len(pieces))
    match chance.randrange(6):
        case 0:
            pieces = of_list(pieces, chance)
        case 1 if pieces[place].startswith(b"<"):
            pieces[place] = chance.choice(
                (b"<object>", b"</object>", b"<a/>", b'<!DOCTYPE a [<!ENTITY b "c">]>', b"<?x?>")
            )
        case 2 | 3:
            texts = [row for row, piece in enumerate(pieces) if not piece.startswith(b"<")]
            row = chance.choice(texts or [place])
            pieces[row] = chance.choice((*TOKENS, b"&amp;", b"&b;", b"<![CDATA[1]]>"))
        case 4:
            return of_number(data, chance)
        case _:
            return of_bytes(data, chance)
    return b"".join(pieces)


_PNG_HEAD = b"\x89PNG\r\n\x1a\n"


def of_png(data: bytes, chance: Random) -> bytes:
    """Change a PNG: the fields of a chunk or the unpacked pixels; checksums are updated."""
    if not data.startswith(_PNG_HEAD) or chance.random() < 0.15:
        return of_bytes(data, chance)
    chunks = _chunks(data[len(_PNG_HEAD) :])
    if not chunks:
        return of_bytes(data, chance)
    place = chance.randrange(len(chunks))
    kind, content = chunks[place]
    match chance.randrange(4):
        case 0:
            chunks = of_list(chunks, chance)
        case 1:
            chunks[place] = (chance.choice((b"IHDR", b"IDAT", b"IEND", b"tEXt", kind)), content)
        case _:
            chunks[place] = (kind, _changed_chunk(kind, content, chance))
    return png_of_chunks(chunks)


def png_of_chunks(chunks: Sequence[tuple[bytes, bytes]]) -> bytes:
    """A PNG with these chunks, each as its type and content."""
    made = [_PNG_HEAD]
    for kind, content in chunks:
        check = struct.pack(">I", zlib.crc32(kind + content))
        made += [struct.pack(">I", len(content)), kind, content, check]
    return b"".join(made)


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    found, start = [], 0
    while start + 8 <= len(data):
        length = int.from_bytes(data[start : start + 4], "big")
        found.append((data[start + 4 : start + 8], data[start + 8 : start + 8 + length]))
        start += 12 + length
    return found


def _changed_chunk(kind: bytes, content: bytes, chance: Random) -> bytes:
    if kind == b"IHDR" and len(content) == 13:
        width, height, *others = struct.unpack(">IIBBBBB", content)
        sizes = (0, 1, 2, 60, 1 << 15, 1 << 30, (1 << 31) - 1, (1 << 32) - 1)
        match chance.randrange(3):
            case 0:
                width = chance.choice(sizes)
            case 1:
                height = chance.choice(sizes)
            case _:
                others[chance.randrange(5)] = chance.choice((0, 1, 2, 3, 4, 6, 8, 16, 255))
        return struct.pack(">IIBBBBB", width, height, *others)
    if kind == b"IDAT":
        try:
            pixels = zlib.decompressobj().decompress(content, 1 << 20)
        except zlib.error:
            return of_bytes(content, chance)
        return zlib.compress(of_bytes(pixels, chance), 1)
    return of_bytes(content, chance)


def of_zip(data: bytes, chance: Random) -> bytes:
    """Change an archive: an entry, its name, the order of entries, or any bytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    except (zipfile.BadZipFile, OSError, ValueError, zlib.error, NotImplementedError, RuntimeError):
        return of_bytes(data, chance)
    if not entries or chance.random() < 0.3:
        return of_bytes(data, chance)
    place = chance.randrange(len(entries))
    name, content = entries[place]
    match chance.randrange(4):
        case 0:
            entries = of_list(entries, chance)
        case 1:
            others = ("../a.txt", "/a.txt", "a" * 300, "", "a/", "\\a", "truth/0001.txt", "é.txt")
            entries[place] = (chance.choice(others), content)
        case _:
            entries[place] = (name, of_rows(content, chance))
    changed = io.BytesIO()
    kind = chance.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2))
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(changed, "w", kind) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return changed.getvalue()
