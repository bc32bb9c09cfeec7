from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.analysis import effects, effects_to_confirm, permissions, reasons
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.messages import CodeBlock
from tests.corpus import OWN, sections

GROUND = PathScope("/home/ann/work", f"/home/ann/work/{OWN}", "/home/ann", private_temporary=True)
IDIOMS = sections(Path(__file__).with_name("idioms.txt"))


def asked(code: str, language: str = "python", *, guarded: bool = False) -> bool:
    return effects_to_confirm("risky", CodeBlock(language, code), GROUND, guarded=guarded) is not None


@pytest.mark.parametrize(("head", "code"), IDIOMS)
def test_harmless_idioms_are_not_asked_about(head: str, code: str) -> None:
    assert not asked(code, head.rpartition("| ")[2])


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("open('/elsewhere/x', 'w')", "writes /elsewhere/x"),
        ("path = '/elsewhere/'\nopen(path + 'x.csv', 'w')", "writes /elsewhere/x.csv"),
        ("from pathlib import Path\n(Path('..') / f'{name}.txt').write_text('x')", "writes ../*.txt"),
        ("requests.get('https://example.org/x')", "connects to example.org"),
        ("pd.read_csv('https://example.org/x.csv')", "connects to example.org"),
        ("!rm -rf ../x", "deletes or moves ../x"),
        ("%%bash\ncat /etc/shadow", "reads /etc/shadow"),
        ("%%writefile x.py\nx = 1", "writes x.py"),
        ("%%sql\nCOPY t TO '../x.csv'", "writes ../x.csv"),
        ("%pip install x", "installs x"),
        ("!{sys.executable} -m pip install x", "installs x"),
        ("subprocess.run(['git', 'push'])", "runs git push"),
        ("open('/etc/shadow')", "reads /etc/shadow"),
        ("open('.env')", "reads .env, which may hold a secret"),
        ("os.remove('data.csv')", "deletes or moves data.csv"),
        ("shutil.rmtree('../old')", "deletes or moves ../old"),
        ("os.getenv('KEY')", "uses the environment variable KEY"),
        ("conn.execute(\"ATTACH '../x.db' AS other\")", "writes ../x.db"),
        ("exec(\"open('../x', 'w')\")", "writes ../x"),
        ("def save(table):\n    table.to_csv('../x.csv')", "writes ../x.csv"),
    ],
)
def test_what_the_text_spells_is_asked_about_in_words(code: str, words: str) -> None:
    found = effects_to_confirm("risky", CodeBlock("python", code), GROUND, guarded=True)

    assert found is not None
    assert words in reasons(found)
    assert asked(code)


@pytest.mark.parametrize(
    "code",
    [
        "import h5py",
        "import urllib3",
        "import helpers",
        "def load(path):\n    return pd.read_csv(path)",
        "pd.read_csv(path)",
        "df.to_csv(folder / 'x.csv')",
        "conn.execute('UPDATE t SET a = 1')",
        "requests.get(url)",
        "os.remove(path)",
        "subprocess.run(command)",
        "exec(code)",
        "getattr(df, name)()",
        "clean(df)",
        "x = (",
        "!{command}",
        "with ProcessPoolExecutor() as pool:\n    pool.map(clean, rows)",
    ],
)
def test_what_the_text_does_not_spell_is_left_to_the_guard(code: str) -> None:
    assert not asked(code, guarded=True)


def test_approval_behind_the_guard_permits_what_the_text_spells() -> None:
    block = CodeBlock("python", "requests.get(url)\nopen('/x', 'w')")

    assert {each.target for each in permissions(block, GROUND).effects} == {"", "/x"}
    assert {each.target for each in permissions(block, GROUND, guarded=True).effects} == {"/x"}


def test_code_that_is_nested_too_deeply_is_asked_about() -> None:
    assert asked("-" * 50_000 + "1")


def test_long_chains_of_names_are_read() -> None:
    chain = "\n".join(f"d{number} = f'{{d{number + 1}}}{{d{number + 1}}}'" for number in range(2_000))

    assert asked(f"{chain}\nopen(d0, 'w')")


@given(st.text())
def test_any_code_can_be_read(code: str) -> None:
    assert isinstance(effects(CodeBlock("python", code), GROUND), tuple)
