from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.notebook.rendering.highlighting import code_html
from tests.notebook.markup import code_of

languages = st.sampled_from(["python", "sh", "json", "sql", "html", "c++", "", "no such language", "Python"])
# What disguises code is written out instead (a test of its own), and HTML cannot hold lone surrogates.
plain_text = st.text(st.characters(blacklist_categories=("Cc", "Cf", "Cs", "Lo", "Zl", "Zp")) | st.sampled_from("\n\t"))


@given(plain_text, languages)
def test_no_character_of_code_is_lost(source: str, language: str) -> None:
    assert code_of(code_html(source, language)) == source
