"""Look at the subject of a commit: `python tools/subject.py FILE`, with the file that holds its message.

`make hooks` has git call this. That the subject is in the imperative, no machine can tell.
"""

import re
import sys
from pathlib import Path

LIMIT = 72
MADE_BY_GIT = r"Merge |Revert \"|Reapply \"|(fixup|squash|amend)! "


def complaints(message: str) -> list[str]:
    """What is wrong with the subject of a message; nothing, where git wrote it."""
    written = [line for line in message.splitlines() if not line.startswith("#")]
    subject, *rest = "\n".join(written).strip().splitlines() or [""]
    if not subject or re.match(MADE_BY_GIT, subject):
        return []  # git itself refuses an empty message
    found = []
    if len(subject) > LIMIT:
        found.append(f"it has {len(subject)} characters, and {LIMIT} are the limit")
    if subject.endswith("."):
        found.append("it ends with a period")
    if subject[0].islower():
        found.append("it begins with a small letter")
    if rest and rest[0].strip():
        found.append("no empty line parts it from what follows")
    return found


if __name__ == "__main__":
    found = complaints(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for line in found:
        print(f"The subject of the commit: {line}.", file=sys.stderr)
    sys.exit(bool(found))
