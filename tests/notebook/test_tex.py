import pytest

from autogen_nb.notebook.rendering.tex import harmless


@pytest.mark.parametrize(
    "tex",
    [
        r"$\href{http://evil.invalid}{x}$",
        r"$\def\x{\x\x}\x$",
        r"$\newcommand{\frac}{x}$",
        r"$\require{html}$",
        r"$\class{lm-Widget}{x}$",
        r"$\begin{CD}x\end{CD}$",
        r"$\begin x$",
        r"$a\\[-50em]b$",
        r"$\hspace{-50em}x$",
        r"$\begin{array}{*{99999}{c}}\end{array}$",
        "${{x}$",
        "$}x{$",
        "$" + "{" * 50 + "}" * 50 + "$",
        "$" + "x" * 5000 + "$",
        "$x\\",
    ],
)
def test_whatever_acts_or_sprawls_does_not(tex: str) -> None:
    assert not harmless(tex)
