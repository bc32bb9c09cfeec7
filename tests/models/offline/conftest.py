from pathlib import Path

import pandas as pd
import pytest

DATA = Path(__file__).parents[3] / "notebooks" / "data"


@pytest.fixture
def penguins() -> pd.DataFrame:
    return pd.read_csv(DATA / "penguins.csv")


@pytest.fixture
def weather() -> pd.DataFrame:
    return pd.read_csv(DATA / "seattle-weather.csv")
