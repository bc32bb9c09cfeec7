"""AutoGen's names and spellings over the strict core."""
