"""Parts of this installation: its engines, its doors, and the settings that both bring."""

from collections.abc import Sequence

from polyvox.api.dialect_settings import DIALECT_SETTINGS, BringsSettings
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.settings_loader import Loader


def settings_loader(catalog: Catalog | None = None, doors: Sequence[BringsSettings] = DIALECT_SETTINGS) -> Loader:
    """A loader of every setting there is."""
    engines = Catalog.installed() if catalog is None else catalog
    sections = tuple(door.settings for door in doors if door.settings is not None)
    foreign = tuple(door.foreign for door in doors if door.foreign is not None)
    return Loader((*engines.sections, *sections), foreign)


def load_settings(**arguments: object) -> Settings:
    """Read every setting from command line, environment, files and defaults; None counts as not given."""
    return settings_loader().load(**arguments)
