"""Whose a path is, by its text alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.policy.path_scope import PathScope, Whose

GROUND = PathScope("/home/ann/work", "/home/ann/work/autogen_files/main", "/home/ann")


@pytest.mark.parametrize(
    ("path", "whose"),
    [
        ("sales.csv", "below"),
        ("./data/sales.csv", "below"),
        (".", "below"),
        ("data/../sales.csv", "below"),
        ("data\\sales.csv", "below"),
        ("/home/ann/work/sales.csv", "below"),
        ("~/work/sales.csv", "below"),
        ("../work/sales.csv", "below"),
        ("autogen_files/other/x.csv", "below"),
        ("keyboard.csv", "below"),
        ("environment.csv", "below"),
        ("autogen_files/main", "own"),
        ("autogen_files/main/x.csv", "own"),
        ("/home/ann/work/autogen_files/main/plots/x.png", "own"),
        ("autogen_files/main/../x.csv", "below"),
        ("autogen_files/mainly.csv", "below"),
        (".env", "private"),
        ("data/.git/config", "private"),
        ("prod.env", "private"),
        ("server.pem", "private"),
        ("keys/id_rsa", "private"),
        ("credentials.json", "private"),
        ("client_secret_1.json", "private"),
        ("OAI_CONFIG_LIST", "private"),
        ("data/.", "below"),
        ("..", "elsewhere"),
        ("../x.csv", "elsewhere"),
        ("data/../../x.csv", "elsewhere"),
        ("..\\x.csv", "elsewhere"),
        ("/etc/passwd", "elsewhere"),
        ("/home/ann/workshop/x.csv", "elsewhere"),
        ("~/x.csv", "elsewhere"),
        ("~root/work/x.csv", "elsewhere"),
        ("C:\\x.csv", "elsewhere"),
        ("C:x.csv", "elsewhere"),
        ("//etc/passwd", "elsewhere"),
        ("", "elsewhere"),
        ("a\0b", "elsewhere"),
    ],
)
def test_path_lies_somewhere(path: str, whose: Whose) -> None:
    assert GROUND.where(path) == whose


@pytest.mark.parametrize(
    ("path", "whose"),
    [
        ("x.csv", "below"),
        ("a/../x.csv", "below"),
        ("../x.csv", "elsewhere"),
        ("..", "elsewhere"),
        ("/x.csv", "elsewhere"),
        ("~/x.csv", "elsewhere"),
        (".env", "private"),
    ],
)
def test_unknown_folder_holds_relative_paths(path: str, whose: Whose) -> None:
    assert PathScope().where(path) == whose


def test_folder_that_is_hidden_itself_is_no_secret() -> None:
    scope = PathScope("/home/ann/.work", home="/home/ann")

    assert scope.where("x.csv") == "below"
    assert scope.where(".x.csv") == "private"


def test_root_as_the_folder() -> None:
    assert [PathScope("/").where(path) for path in ("/", "/x", "x", "/.x")] == ["below", "below", "below", "private"]


@given(st.text(), st.sampled_from(["", "/", "/a", "/a/b"]))
def test_any_text_has_an_answer(path: str, folder: str) -> None:
    assert PathScope(folder, "/a/own", "/a").where(path) in ("own", "below", "private", "elsewhere")


@pytest.mark.parametrize(
    ("path", "whose"),
    [
        ("/home/me/a\\b/x.csv", "below"),
        ("x.csv", "below"),
        ("/home/me/a\\b/files/main/x.csv", "own"),
        ("files/main/x.csv", "own"),
        ("/home/me/a\\b/..\\x.csv", "elsewhere"),
        ("/home/me/a/b/x.csv", "elsewhere"),
    ],
)
def test_a_folders_name_may_hold_a_backslash(path: str, whose: Whose) -> None:
    scope = PathScope("/home/me/a\\b", "/home/me/a\\b/files/main", "/home/me")

    assert scope.where(path) == whose
