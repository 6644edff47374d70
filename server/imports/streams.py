"""Reading bytes of files and archives that may be damaged, missing or hostile, with one sentence for each trouble."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import BinaryIO

from historian.errors import InvalidInputError

_BUFFER = 1 << 18
_DAMAGED = "It is damaged and cannot be read from here on; what stands before it was read."


@contextmanager
def reading() -> Generator[None]:
    """Turn what files and archives raise into an InvalidInputError."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(f"It cannot be read: {error.strerror or 'the file is not accessible'}.") from None
    except NotImplementedError:
        raise InvalidInputError("It is compressed in a way that cannot be read here; unpack it first.") from None
    except RuntimeError:
        raise InvalidInputError("It is encrypted; unpack it first.") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, struct.error, MemoryError):
        raise InvalidInputError(_DAMAGED) from None


class GuardedStream(io.RawIOBase):
    """A stream whose troubles are InvalidInputErrors, and that tells how far it has been read."""

    def __init__(self, stream: BinaryIO, progress: Callable[[int], None]) -> None:
        super().__init__()
        self._stream = stream
        self._progress = progress
        self._read = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: object, /) -> int:
        """Fill `buffer` and return how many bytes that were."""
        view = memoryview(buffer)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        with reading():
            data = self._stream.read(len(view))
        view[: len(data)] = data
        self._read += len(data)
        self._progress(self._read)
        return len(data)

    def close(self) -> None:
        """Close the stream below too."""
        if not self.closed:
            with reading():
                self._stream.close()
        super().close()


def guarded(opened: Callable[[], BinaryIO], progress: Callable[[int], None]) -> BinaryIO:
    """Open a stream; opening, reading and closing raise nothing but InvalidInputError."""
    with reading():
        stream = opened()
    return io.BufferedReader(GuardedStream(stream, progress), _BUFFER)
