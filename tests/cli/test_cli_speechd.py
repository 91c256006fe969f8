"""`polyvox speechd`: the settings of a process with one listener."""

from polyvox.cli.speechd import _for_one_listener
from polyvox.config import Settings
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.runtime.executors.ort import share_of_cores


def test_two_cores_work_on_a_phrase_unless_the_settings_say_otherwise() -> None:
    alone = _for_one_listener(Settings()).section(KokoroSettings)
    assert alone.threads == min(2, share_of_cores(1))
    for chosen in (KokoroSettings(threads=1), KokoroSettings(workers=3)):
        kept = _for_one_listener(Settings().with_section(chosen)).section(KokoroSettings)
        assert (kept.threads, kept.workers) == (chosen.threads, chosen.workers)
