import pytest

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.policy.permissions import allows

GROUND = PathScope("/home/me/work", "/home/me/work/autogen_files/chat", "/home/me")


@pytest.mark.parametrize(
    ("let", "kind", "target"),
    [
        ([], "compute", ""),
        ([], "read", "data.csv"),
        ([], "write_own", "autogen_files/chat/x"),
        ([("write", "")], "write", "/anywhere"),
        ([("write", "../out.csv")], "write", "/home/me/out.csv"),
        ([("write", "~/out")], "write", "/home/me/out/a/b.csv"),
        ([("write", "/")], "write", "/etc/x"),
        ([("write", "out/plot_*.png")], "write", "/home/me/work/out/plot_1.png"),
        ([("write", "new/deep/out.csv")], "write", "/home/me/work/new"),
        ([("delete", "old/")], "delete", "/home/me/work/old/a"),
        ([("read_private", ".env")], "read_private", "/home/me/work/.env"),
        ([("network", "")], "network", "example.org"),
        ([("network", "https://me:secret@API.example.org:8443/v1?x")], "network", "api.example.org"),
        ([("network", "api.example.org")], "network", "api.example.org."),
        ([("network", "http://[::1]:80/")], "network", "::1"),
        ([("network", "/run/one.sock")], "network", "/run/one.sock"),
        ([("network", "@one")], "network", "@one"),
        ([("process", "")], "process", "rm -rf /"),
        ([("process", "ls")], "process", "/bin/ls -la"),
        ([("process", "git status")], "process", "git log"),
        ([("install", "Scikit_Learn>=1.4")], "install", "scikit-learn"),
        ([("install", "")], "install", "polars"),
        ([("install", "wheels polars 'pandas[all]>=2'")], "install", "wheels polars pandas"),
        ([("install", "./one.whl")], "install", "./one.whl"),
        ([("environment", "OMP_NUM_THREADS")], "environment", "OMP_NUM_THREADS"),
        ([("unknown", "")], "unknown", "ctypes"),
        ([("network", "a.org"), ("network", "b.org")], "network", "b.org"),
    ],
)
def test_covered(let: list[tuple[str, str]], kind: str, target: str) -> None:
    assert allows(let, kind, target, GROUND)


@pytest.mark.parametrize(
    ("let", "kind", "target"),
    [
        ([], "write", "out.csv"),
        ([("unknown", "")], "write", "out.csv"),
        ([("write", "")], "delete", "out.csv"),
        ([("write", "out.csv")], "write", "/home/me/work/out.csv2"),
        ([("write", "out.csv")], "write", "/home/me/out.csv"),
        ([("delete", "old/a")], "delete", "/home/me/work/old"),
        ([("write", "C:\\x")], "write", "/home/me/work/x"),
        ([("write", "x")], "write", ""),
        ([("network", "example.org")], "network", "api.example.org"),
        ([("network", "::1")], "network", "::2"),
        ([("network", "/run/one.sock")], "network", "/run/other.sock"),
        ([("network", "@one")], "network", "@other"),
        ([("process", "ls")], "process", "lsof"),
        ([("process", "ls")], "process", ""),
        ([("install", "polars")], "install", "polars-evil"),
        ([("install", "polars")], "install", "polars evil"),
        ([("install", "polars")], "install", ""),
        ([("install", "polars")], "install", "polars -rneeds.txt"),
        ([("install", "./one.whl")], "install", "./other.whl"),
        ([("install", "https://pypi.org/simple")], "install", "https://evil.org/simple"),
        ([("environment", "PATH")], "environment", "HOME"),
    ],
)
def test_not_covered(let: list[tuple[str, str]], kind: str, target: str) -> None:
    assert not allows(let, kind, target, GROUND)
