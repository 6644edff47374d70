"""Large exports made on the spot, in the forms of public programs."""

from __future__ import annotations

import json
from pathlib import Path

TEXTS = ("今天在隆德的花园里种了木瓜树，水浇了三桶", "planted another quince tree in Lund, three buckets of water")
BEGINNING = 1_600_000_000


def telegram(path: Path, count: int) -> Path:
    """Write a chat of Telegram, half of it Chinese, with one message in a thousand that has no time."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{"name": "花园", "type": "private_group", "id": 4711, "messages": [\n')
        for number in range(count):
            message = {
                "id": number,
                "type": "message",
                "date": "2020-09-13T12:26:40",
                "date_unixtime": str(BEGINNING + number),
                "from": f"Person {number % 5}",
                "from_id": f"user{number % 5}",
                "text": f"{TEXTS[number % 2]} {number}",
            }
            if number % 1000 == 999:
                del message["date"], message["date_unixtime"]
            file.write(("," if number else "") + json.dumps(message, ensure_ascii=False) + "\n")
        file.write("]}\n")
    return path


def whatsapp(path: Path, count: int) -> Path:
    """Write a chat of WhatsApp, one message of two lines a minute."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            day, minute = divmod(number, 1440)
            month, day = divmod(day, 28)
            year, month = divmod(month, 12)
            date = f"{day + 1:02}/{month + 1:02}/{2010 + year}, {minute // 60:02}:{minute % 60:02}"
            file.write(f"{date} - Person {number % 5}: {TEXTS[number % 2]}\n{number}\n")
    return path
