"""The packages that `pyproject.toml` declares: everything that the code imports, for every Python that it names."""

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# A search for lines takes a tenth of the time of a parser.
IMPORT = re.compile(r"^ *(?:import (?=[\w.]+(?: as \w+)?(?:  # .*)?$)|from (?=[\w.]+ import ))(\w+)", re.MULTILINE)
# Torch's builds for a GPU bring it; its build for the CPU, which may be the one installed here, does not.
BROUGHT = {"triton": "torch"}


@pytest.mark.long
def test_every_module_that_is_imported_belongs_to_a_declared_package_or_to_one_that_it_brings():
    extras = PROJECT["optional-dependencies"]
    declared = names(PROJECT["dependencies"]) | names(
        line for extra in extras if extra != "dev" for line in extras[extra]
    )
    known = declared | {needed for package in declared for needed in needs(package)}
    packages = packages_distributions()
    strangers = {
        module: path
        for module, path in imported_modules().items()
        if BROUGHT.get(module) not in declared and not names(packages.get(module, [module])) & known
    }
    assert not strangers


def test_every_minor_release_since_the_oldest_is_named_once():
    minors = [int(found[1]) for line in PROJECT["classifiers"] if (found := re.search(r"Python :: 3\.(\d+)$", line))]
    oldest = int(PROJECT["requires-python"].removeprefix(">=3."))
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    tested = re.search(r"python: \[(.*)\]", workflow)
    assert minors == list(range(oldest, max(minors) + 1))
    assert tested is not None
    assert tested[1] == ", ".join(f'"3.{minor}"' for minor in minors)


def imported_modules() -> dict[str, str]:
    """Top-level modules of other packages, each with a file of ours that imports it."""
    ours = {*sys.stdlib_module_names, "polyvox"}
    return {
        module: str(path)
        for path in (ROOT / "src").rglob("*.py")
        for module in IMPORT.findall(path.read_text(encoding="utf-8"))
        if module not in ours
    }


def needs(package: str) -> set[str]:
    try:
        return names(requires(package) or [])
    except PackageNotFoundError:
        return set()


def names(requirements: Iterable[str]) -> set[str]:
    """The normalised names of packages, without extras, versions and markers."""
    return {re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", line)[0]).lower() for line in requirements}
