import pytest

from autogen_nb.core.analysis import effects
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import EffectKind
from autogen_nb.messages import CodeBlock

GROUND = PathScope("/home/ann/work", "/home/ann/work/autogen_files/main", "/home/ann")


def read(code: str) -> set[tuple[EffectKind, str]]:
    return {(effect.kind, effect.target) for effect in effects(CodeBlock("bash", code), GROUND)}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ls", {("read", ".")}),
        ("ls -la data | head -3", {("read", "data")}),
        ("cat < notes.txt", {("read", "notes.txt")}),
        ("cat data/*.csv 2>/dev/null", {("read", "data/*.csv")}),
        ("grep -rn x . --include='*.py'", {("read", ".")}),
        ("grep -e x a.txt", {("read", "x"), ("read", "a.txt")}),
        ("grep --file=/etc/x a.txt", {("read", "a.txt"), ("read_private", "/etc/x")}),
        ("cat /etc/passwd", {("read_private", "/etc/passwd")}),
        ("cat $FILE", {("read_private", "")}),
        ("cat ~/x", {("read_private", "~/x")}),
        ("cd data && cat a.csv", {("read", "data/a.csv")}),
        ("cd /etc; ls", {("read_private", "/etc/.")}),
        ("cd; ls x", {("read_private", "~/x")}),
        ("cd $X; ls x", {("read_private", "")}),
        ("test -f a.csv && echo yes", {("read", "a.csv")}),
        ("if [ -f a.csv ]; then wc -l a.csv; fi", {("read", "a.csv")}),
        ("X=1", set()),
        ("X=1 ls", {("environment", "X"), ("read", ".")}),
        ("echo hello 2>&1", set()),
        ("echo $HOME ${PATH}", {("environment", "HOME"), ("environment", "PATH")}),
        ("echo $x", set()),
        ("echo 'it # is' # a comment", set()),
        ("echo 'two\nlines'", set()),
        ("echo 'open", {("process", "echo 'open")}),
        ("echo x > out.txt", {("write", "out.txt")}),
        ("echo x >> ../out.txt", {("write", "../out.txt")}),
        ("> out.txt", {("write", "out.txt")}),
        ("ls | tee out.txt", {("read", "."), ("write", "out.txt")}),
        ("touch a b", {("write", "a"), ("write", "b")}),
        ("touch", {("write", "")}),
        ("tar xf a.tar", {("write", "")}),
        ("cp a.csv b.csv", {("read", "a.csv"), ("write", "b.csv")}),
        ("cp", {("write", "")}),
        ("rsync a host.example.org:b", {("read", "a"), ("write", "host.example.org:b"), ("network", "")}),
        ("mv a b", {("delete", "a"), ("delete", "b")}),
        ("rm", {("delete", "")}),
        ("rm -rf \\\n  data", {("delete", "data")}),
        ("sort -o out.txt a.txt", {("process", "sort -o out.txt a.txt")}),
        ("awk '{ system(\"ls\") }' a", {("process", 'awk { system("ls") } a')}),
        ("find . -exec rm {} +", {("process", "find . -exec rm {} +")}),
        ("sed -n 1,3p notes.txt", {("read", "notes.txt")}),
        ("curl https://api.example.org/x", {("network", "api.example.org")}),
        ("curl api.example.org", {("network", "api.example.org")}),
        ("ssh ann@host.example.org ls", {("network", "host.example.org")}),
        ("aws s3 ls", {("network", "")}),
        ("git clone https://git.example.org/x", {("network", "git.example.org")}),
        ("git pull", {("network", "")}),
        ("git status", {("process", "git status")}),
        ("git --version", set()),
        ("pip install a b", {("install", "a b")}),
        ("pip install", {("install", "")}),
        ("pip", {("install", "")}),
        ("pip list", set()),
        ("python -m pip install a", {("install", "a")}),
        ("python3 -V", set()),
        ("python3 x.py", {("process", "python3 x.py")}),
        ("./run.sh", {("process", "run.sh")}),
        ("/tmp/ls data", {("process", "ls data")}),
        ("export X=1", {("environment", "X")}),
        ("env", {("environment", "")}),
        ("echo $(rm x)", {("delete", "x")}),
        ("echo `rm x`", {("delete", "x")}),
        ("diff <(rm x) a.txt", {("delete", "x"), ("read_private", ""), ("read", "a.txt")}),
        ("echo $(cat <<EOF)", {("process", "echo $(cat <<EOF)")}),
        ("echo $(echo 'x)", {("process", "echo $(echo 'x)")}),
        ("cat <<EOF\nx\nEOF", {("process", "cat <<EOF x EOF")}),
        ("ls & rm x", {("read", "."), ("delete", "x")}),
        ("(cd data; rm x)", {("delete", "data/x")}),
        ("for f in *.csv; do rm $f; done", {("delete", "")}),
    ],
)  # fmt: skip
def test_shell_effects_of_commands(code: str, expected: set[tuple[EffectKind, str]]) -> None:
    assert read(code) == expected
