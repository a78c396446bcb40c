"""Bytes to text: encodings, packed files within bounds, and what is no text at all."""

from __future__ import annotations

import codecs
import io
import zipfile
import zlib
from collections.abc import Iterator

from memory_core.errors import UnreadableTrajectoryError

MAX_BYTES = 50 * 1024 * 1024
"""Largest file that is read."""
MAX_UNPACKED = 200 * 1024 * 1024
"""Most that a packed file may hold; what says less and holds more is refused while it unpacks."""
MAX_ENTRIES = 20_000
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip


def decoded(raw: bytes, warnings: list[str]) -> str:
    """The text of a file. Raises UnreadableTrajectoryError where it is none."""
    if raw[:2] == b"\x1f\x8b":
        raw = _unzipped(raw, warnings)
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _lenient(raw[len(mark) :], encoding, warnings)
    guessed = _guess_wide(raw[:4096])
    if guessed:
        return _lenient(raw, guessed, warnings)
    if _is_binary(raw[:65536]):
        raise UnreadableTrajectoryError(
            "This is a binary file, no text. Export the run as JSON, JSONL or text and try again."
        )
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start > len(raw) - 4:  # cut inside its last character
            return raw[: error.start].decode("utf-8")
    text = raw.decode("utf-8", "replace")
    if text.count("�") * 200 > len(text):  # too many for some stray bytes: another encoding
        text = raw.decode("cp1252", "replace")
        warnings.append("The file is no UTF-8; it was read as Windows-1252.")
    else:
        warnings.append("Some bytes are no UTF-8; � stands in their place.")
    return text


def _lenient(raw: bytes, encoding: str, warnings: list[str]) -> str:
    text = raw.decode(encoding, "replace")
    if "�" in text:
        warnings.append(f"Some bytes are no {encoding.upper()}; � stands in their place.")
    return text


def _guess_wide(head: bytes) -> str:
    """UTF-16 without a mark: every other byte of mostly English text is zero."""
    if len(head) < 8 or b"\x00" not in head:
        return ""
    for encoding, zeros, letters in (("utf-16-le", head[1::2], head[0::2]),
                                     ("utf-16-be", head[0::2], head[1::2])):  # fmt: skip
        plain = sum(32 <= byte < 127 or byte in b"\r\n\t" for byte in letters)
        if zeros.count(0) > len(zeros) * 0.7 and plain > len(letters) * 0.7:
            return encoding
    return ""


def _is_binary(head: bytes) -> bool:
    strange = sum(head.count(byte) for byte in (*range(9), *range(14, 27), *range(28, 32)))
    return head.count(0) > 8 or strange * 20 > len(head)


def _unzipped(raw: bytes, warnings: list[str]) -> bytes:
    """What a gzip file holds: one member, or several in a row where a log was added to."""
    pieces: list[bytes] = []
    left = MAX_UNPACKED
    while raw[:2] == b"\x1f\x8b":
        packed = zlib.decompressobj(wbits=31)
        try:
            pieces.append(packed.decompress(raw, left + 1))
        except zlib.error as error:
            raise UnreadableTrajectoryError(
                f"This gzip file is damaged: {error}. Pack the run again, or give it unpacked."
            ) from error
        left -= len(pieces[-1])
        if left < 0:
            raise UnreadableTrajectoryError(_too_much())
        if not packed.eof:
            warnings.append("The gzip file ends too early; what comes before was read.")
            break
        raw = packed.unused_data
    return b"".join(pieces)


def is_zip(raw: bytes) -> bool:
    return raw[:4] in (b"PK\x03\x04", b"PK\x05\x06")


def zip_entries(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of the files in a zip, in order. Nothing is written to a disk.

    Raises UnreadableTrajectoryError for a damaged one, or one that unpacks to too much.
    """
    left = MAX_UNPACKED
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            entries = packed.infolist()
            if len(entries) > MAX_ENTRIES:
                raise UnreadableTrajectoryError(
                    f"This zip holds {len(entries)} files; at most {MAX_ENTRIES} are read."
                )
            for entry in entries:
                if entry.is_dir() or entry.flag_bits & 1:  # a folder, or locked by a password
                    continue
                with packed.open(entry) as file:
                    content = file.read(left + 1)
                if len(content) > left:
                    raise UnreadableTrajectoryError(_too_much())
                left -= len(content)
                yield entry.filename, content
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise UnreadableTrajectoryError(f"This zip is damaged: {error}.") from error
    except (NotImplementedError, RuntimeError) as error:
        raise UnreadableTrajectoryError(
            f"This zip is packed in a way that is not known here ({error}). Convert it to JSON "
            "first, such as by `inspect log convert --to json`."
        ) from error


def _too_much() -> str:
    return f"This file unpacks to more than {MAX_UNPACKED // 1024**2} MB; it was not read."
