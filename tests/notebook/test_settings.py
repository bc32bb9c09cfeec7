import pytest

from autogen_nb.agents.parts.execution_target import ExecutionTarget
from autogen_nb.errors import ConfigError
from autogen_nb.kernels.limits import machine_memory
from autogen_nb.settings import Settings


def test_what_kernels_import_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_memory, "memory", lambda: 8 * 2**30)
    assert Settings().preimports == ("numpy", "pandas", "matplotlib.pyplot")
    assert Settings(imports=" polars, numpy,").preimports == ("polars", "numpy")
    assert Settings(imports="").preimports == ()

    monkeypatch.setattr(machine_memory, "memory", lambda: 2**30)
    assert Settings(imports="polars,numpy").preimports == ("polars",)


@pytest.mark.parametrize(
    ("option", "environment", "setting", "confirm", "remark"),
    [
        (None, None, "always", "always", ""),
        (None, None, "risky", "risky", ""),
        (None, None, "never", "never", "code runs without a question (%config AutogenMagics.confirm)"),
        (None, "never", "always", "never", "code runs without a question (AUTOGEN_NB_CONFIRM=never)"),
        (None, "always", "never", "always", ""),
        ("never", None, "always", "never", "code runs without a question (--confirm never)"),
        ("never", "never", "always", "never", "code runs without a question (AUTOGEN_NB_CONFIRM=never)"),
        ("always", "never", "never", "always", ""),
        (None, "", "always", "always", ""),
    ],
)
def test_sources_of_the_confirm_setting(
    monkeypatch: pytest.MonkeyPatch, option: str, environment: str | None, setting: str, confirm: str, remark: str
) -> None:
    monkeypatch.setattr("os.environ", {} if environment is None else {"AUTOGEN_NB_CONFIRM": environment})

    options = Settings.from_options("go", **({"confirm": option} if option else {}))
    settings = Settings(confirm=setting).for_cell(options, attended=True)

    assert (settings.confirm, settings.remark) == (confirm, remark)


def test_an_environment_that_says_nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGEN_NB_CONFIRM", "yes")

    with pytest.raises(ConfigError, match="'yes'; it must be one of always, risky, never"):
        Settings().for_cell(Settings.from_options("go"), attended=True)


@pytest.mark.parametrize(
    ("options", "otherwise", "where"),
    [
        (Settings.from_options("go"), ExecutionTarget("bwrap"), ExecutionTarget("bwrap")),
        (Settings.from_options("go", sandbox="none"), ExecutionTarget("bwrap", net=True), ExecutionTarget()),
        (Settings.from_options("go", net=True), ExecutionTarget("bwrap"), ExecutionTarget("bwrap", net=True)),
        (Settings.from_options("go", net=False), ExecutionTarget("bwrap", net=True), ExecutionTarget("bwrap")),
        (Settings.from_options("go", sandbox="bwrap"), ExecutionTarget(kernel="bash"), ExecutionTarget("bwrap")),
        (
            Settings.from_options("go", kernel="bash"),
            ExecutionTarget("bwrap", net=True),
            ExecutionTarget(kernel="bash"),
        ),
        (
            Settings.from_options("go", sandbox="docker"),
            ExecutionTarget("docker", net=True),
            ExecutionTarget("docker", net=True),
        ),
    ],
)
def test_where_code_runs(options: Settings, otherwise: ExecutionTarget, where: ExecutionTarget) -> None:
    assert options.target(otherwise) == where


def test_the_network_of_no_sandbox() -> None:
    with pytest.raises(ConfigError, match="choose one with --sandbox"):
        Settings.from_options("go", net=True).target(ExecutionTarget())
    with pytest.raises(ConfigError, match="either a kernel or a sandbox"):
        Settings.from_options("go", sandbox="bwrap", kernel="bash").target(ExecutionTarget())
    with pytest.raises(ConfigError, match="either a kernel or a sandbox"):
        _ = Settings(sandbox="bwrap", kernel="bash").where
