"""What people type wrong, and the answer that they get: the mistake named, with the remedy, and no model loaded."""

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from polyvox.cli.main import app
from polyvox.engines.kokoro.engine import KokoroEngine

MISTAKES = [
    # command line, exit status, part of the answer
    ("sya hi", 2, "No such command 'sya'. Did you mean 'say'?"),
    ("voices lst", 2, "No such command 'lst'. Did you mean 'list'?"),
    ("say hi --voise x", 2, "No such option: --voise (Possible options: --consent, --voice, --volume)"),
    ("serve --prot 1", 2, "No such option: --prot (Possible options: --host, --port)"),
    ("config --josn", 2, "No such option: --josn (Possible options: --json)"),
    ("say '' -o a.wav", 2, "error: There is nothing to say: the text is empty."),
    ("say -f empty.txt -o a.wav", 2, "error: There is nothing to say: the text is empty."),
    ("say -f latin.txt -o a.wav", 2, "error: latin.txt is not UTF-8 text; save it as UTF-8."),
    ("say -f missing.txt -o a.wav", 1, "error: missing.txt: No such file or directory."),
    ("say hi -f book.txt -o a.wav", 2, "error: Give a text or a file, not both."),
    ("say hi -o a.wav --speed fast", 2, "Invalid value for '--speed'"),
    ("say hi -o a.wav --speed 9", 2, "error: speed must lie between 0.25 and 4, not 9."),
    ("say hi -o a.wav --volume 0", 2, "error: volume must be above 0 and at most 4, not 0."),
    ("say hi -o a.wav -v af_hart", 2, "no voice 'af_hart'; did you mean 'af_heart'? `polyvox voices` lists them all."),
    ("say hi -o a.wav -v Hart", 2, "There is no voice 'Hart'; did you mean 'af_heart'?"),
    ("say hi -o a.wav -v zzz", 2, "error: There is no voice 'zzz'; `polyvox voices` lists them all."),
    ("say hi -o a.wav -v af_heart+bf_ema", 2, "There is no voice 'bf_ema'; did you mean 'bf_emma'?"),
    ("say hi -o a.wav -v 'af_heart('", 2, "'af_heart(' is not a voice or a mix such as"),
    ("say 'af_hart: hi' --dialogue -o a.wav", 2, "There is no voice 'af_hart'; did you mean 'af_heart'?"),
    ("say hi --dialogue -o a.wav", 2, "error: Line 1 names no voice; write `voice: text`"),
    ("say 'af_sky: hi' --dialogue -v af_sky -o a.wav", 2, "error: In a dialogue each line names its voice"),
    ("say hi -o a.wav --pause 1", 2, "error: --pause is for dialogues; write [pause:1s] into a text."),
    ("say hi -o a.wav -m koko", 2, "There is no model 'koko'; did you mean 'kokoro'? This version knows"),
    ("say hi -o a.wav -l english", 2, "or a tag such as en-us or zh."),
    ("say hi -o a.mp4", 2, "'mp4' is not an audio format; did you mean 'mp3'? Use one of"),
    ("say hi -o a.wav --format wave", 2, "'wave' is not an audio format; did you mean 'wav'? Use one of"),
    ("say hi -o a", 2, "error: a has no ending that names a format; add one or use --format."),
    ("say hi -o nowhere/a.wav", 2, "give a file in a folder that exists."),
    ("say hi --format wav", 2, "error: --format is for files; name one with -o."),
    ("say hi -o a.wav --captions a.txt", 2, "let it end in .srt, .vtt, .word.vtt or .json."),
    ("say hi -o a.wav --server localhost", 2, "'localhost' is not a server's address; write it as http://HOST:PORT."),
    ("say hi -o a.wav --server http://127.0.0.1:1", 1, "No server answers at http://127.0.0.1:1; start one with"),
    ("say hi -o a.wav", 1, "run: polyvox pull kokoro"),
    ("voices -l xx", 2, "The model 'wren' has no voice for 'xx'; choose one of en-gb, en-us,"),
    ("voices -m koko", 1, "There is no model 'koko'; did you mean 'kokoro'? Known are"),
    ("voices show anna", 1, "add one with: polyvox voices add NAME FILE"),
    ("voices list", 0, "`polyvox voices` lists those of a model."),
    ("pull koko", 1, "There is no model 'koko'; did you mean 'kokoro'? Known are"),
    ("models check koko", 1, "There is no model 'koko'; did you mean 'kokoro'? Known are"),
    ("serve --model koko", 2, "There is no model 'koko'; did you mean 'kokoro'?"),
    ("serve --port 99999", 2, "Setting 'port': Input should be less than or equal to 65535."),
    ("bench --url nonsense", 2, "'nonsense' is not a server's address; write it as http://HOST:PORT."),
    ("bench --dialect opneai", 2, "error: Unknown dialect 'opneai'; choose one of: openai,"),
    ("book missing.epub", 1, "error: missing.epub: No such file or directory."),
    ("book book.txt -o book.xyz", 2, "A book is written as .m4b, .mp3 or .opus, not as 'xyz'"),
    ("book book.txt -v af_hart", 2, "There is no voice 'af_hart'; did you mean 'af_heart'?"),
    ("book book.txt --speed 9", 2, "error: speed must lie between 0.25 and 4, not 9."),
    ("dictionary show nobody", 1, "There is no dictionary 'nobody'; `polyvox dictionary list` shows yours."),
    ("keys revoke nobody", 1, "'polyvox keys create' makes one."),
    ("mcp --folder nowhere", 2, "error: nowhere is not a folder; make it first, or name another."),
]
LOADS = frozenset({"say hi -o a.wav"})


def test_each_mistake_is_answered_with_its_remedy_before_a_model_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLYVOX_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("POLYVOX_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    Path("book.txt").write_text("Chapter 1\n\nHello.\n", encoding="utf-8")
    Path("empty.txt").touch()
    Path("latin.txt").write_bytes(b"caf\xe9")
    starts: list[str] = []
    start = KokoroEngine.start

    async def counted(engine: KokoroEngine) -> None:
        starts.append(engine.name)
        await start(engine)

    monkeypatch.setattr(KokoroEngine, "start", counted)
    wrong = []
    for line, status, answer in MISTAKES:
        starts.clear()
        result = CliRunner().invoke(app, shlex.split(line))
        loaded = bool(starts) != (line in LOADS)
        if result.exit_code != status or answer not in result.stderr or "Traceback" in result.stderr or loaded:
            wrong.append((line, result.exit_code, result.stderr))
    assert not wrong
