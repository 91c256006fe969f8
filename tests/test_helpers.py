"""The helpers that decide whether other tests fail."""

import inspect
import os
import signal
import subprocess
from pathlib import Path

import pytest

from helpers.fork_server import fork_server, forked_python
from helpers.linear_time import grows_linearly
from helpers.tables import each_row


def test_all_rows_run_and_each_that_fails_is_named() -> None:
    ran = []

    @each_row(("number", "word"), [(1, "one"), (2, "zwei"), (3, "three"), (4, "vier")])
    def check(number: int, word: str) -> None:
        ran.append(number)
        assert word in ("one", "two", "three"), "no English"

    with pytest.raises(
        ExceptionGroup, match="2 of 4 rows fail: number=2, word='zwei'; number=4, word='vier'"
    ) as caught:
        check()
    assert ran == [1, 2, 3, 4]
    assert [str(error).splitlines()[0] for error in caught.value.exceptions] == ["no English"] * 2
    assert caught.value.exceptions[0].__notes__ == ["row: number=2, word='zwei'"]


def test_a_row_that_calls_fail_does_not_hide_the_others() -> None:
    @each_row("name", ["a", "b"])
    def check(name: str) -> None:
        pytest.fail(name)

    with pytest.raises(BaseExceptionGroup, match="2 of 2 rows fail"):
        check()


@pytest.mark.anyio
async def test_rows_of_a_coroutine_are_awaited() -> None:
    @each_row("number", [1, 0])
    async def check(number: int) -> None:
        assert number

    with pytest.raises(ExceptionGroup, match="1 of 2 rows fail: number=0"):
        await check()


def test_fixtures_stay_parameters_and_columns_do_not() -> None:
    @each_row("left", [1, 2])
    @each_row("right", [3])
    def check(left: int, right: int, fixture: list[int]) -> None:
        fixture.append(left * right)

    found: list[int] = []
    check(fixture=found)
    assert list(inspect.signature(check).parameters) == ["fixture"]
    assert found == [3, 6]


def test_an_empty_table_and_an_unknown_column_are_mistakes() -> None:
    with pytest.raises(AssertionError, match="without rows"):
        each_row("number", [])
    with pytest.raises(AssertionError, match="does not take"):
        each_row("number", [1])(lambda: None)


def test_work_that_grows_with_the_square_is_found() -> None:
    assert grows_linearly(lambda size: size, 10, 20)
    assert not grows_linearly(lambda size: size**2, 10, 20)


def test_one_disturbed_run_is_tried_again() -> None:
    long = iter([100.0, 20.0])
    assert grows_linearly(lambda size: 10.0 if size == 10 else next(long), 10, 20)


@pytest.mark.long
def test_a_forked_program_has_its_own_arguments_environment_folder_output_and_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = "import os, sys, time; print(sys.argv[1:], dict(os.environ), os.getcwd(), flush=True)"
    Path("ending.py").write_text(f"{said}; print('no', file=sys.stderr); sys.exit(3)")
    Path("waiting.py").write_text(f"{said}; time.sleep(600)")
    environment = {"PYTHONPATH": str(tmp_path)}
    for program, errors, end in (("ending", "no\n", 3), ("waiting", "", -signal.SIGKILL)):
        process = fork_server().start(program, ["a", "b c"], environment, tmp_path / "log")
        with process.stdout:
            assert process.stdout.readline().decode() == f"{['a', 'b c']} {environment} {tmp_path}\n"
            if program == "waiting":
                assert process.poll() is None
                process.kill()
            assert process.wait(60) == process.poll() == end
        assert (tmp_path / "log").read_text() == errors


@pytest.mark.long
def test_a_forked_python_runs_texts_modules_and_scripts_and_ends_as_they_do(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys; print(__name__, sys.argv[1:], sys.stdin.read()); sys.exit(4)")
    (tmp_path / "module.py").write_text(script.read_text())
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    for program in (["-c", script.read_text()], ["-m", "module"], [str(script)]):
        done = subprocess.run(
            [forked_python(), *program, "a", "b c"], input="said", env=environment, capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (4, "__main__ ['a', 'b c'] said\n"), done.stderr
    killed = subprocess.run([forked_python(), "-c", "import os; os.kill(os.getpid(), 9)"])
    assert killed.returncode == -signal.SIGKILL


@pytest.mark.long
def test_a_forked_program_is_told_to_end_and_does_not_outlive_its_python() -> None:
    program = "import time; print('begun', flush=True); time.sleep(600)"
    for number in (signal.SIGKILL, signal.SIGTERM):
        with subprocess.Popen([forked_python(), "-c", program], stdout=subprocess.PIPE, text=True) as python:
            assert python.stdout is not None
            assert python.stdout.readline() == "begun\n"
            python.send_signal(number)
            assert python.stdout.read() == "", "it reads on until the program, too, has ended"
        assert python.returncode == -number
