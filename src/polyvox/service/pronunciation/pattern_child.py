"""The process that runs callers' regular expressions, so that one which never ends can be killed.

Run by its path, with the standard library alone. It reads one JSON object a line, `{"text", "patterns": [[source,
ignores case], ...]}`, and answers with one line for each pattern: its matches, or what is wrong with it.
"""

import json
import re
import sys

MAX_MATCHES = 5_000
MAX_GROUPS = 20
_MEMORY_BYTES = 512 * 1024 * 1024


def main() -> None:
    """Answer until standard input ends."""
    _limit_memory()
    print("{}", flush=True)  # ready
    for line in sys.stdin:
        request = json.loads(line)
        for source, ignores_case in request["patterns"]:
            print(json.dumps(_answer(source, ignores_case, request["text"])), flush=True)


def _answer(source: str, ignores_case: bool, text: str) -> dict[str, object]:
    try:
        pattern = re.compile(source, re.IGNORECASE if ignores_case else 0)
        matches: list[list[object]] = []
        for match in pattern.finditer(text):
            if len(matches) == MAX_MATCHES:
                break
            if match.end() > match.start():
                groups = [group or "" for group in (match[0], *match.groups()[:MAX_GROUPS])]
                matches.append([match.start(), match.end(), groups])
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        return {"error": str(error)[:200] or type(error).__name__}
    return {"matches": matches}


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on this system
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # macOS maps more than this into every process
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


if __name__ == "__main__":
    main()
