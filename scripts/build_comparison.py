"""Write our column of the README's comparison from the table that the tests exercise.

Run it after changing `tests/helpers/comparison.py`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers.comparison import README, with_column

if __name__ == "__main__":
    README.write_text(with_column(README.read_text(encoding="utf-8")), encoding="utf-8")
