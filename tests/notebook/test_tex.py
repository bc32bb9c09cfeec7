"""Which TeX a typesetter may see."""

import pytest

from autogen_nb.notebook.rendering.tex import harmless


@pytest.mark.parametrize(
    "tex",
    [
        r"$\displaystyle \int\limits_{0}^{\infty} e^{- x^{2}}\, dx = \frac{\sqrt{\pi}}{2}$",
        r"\begin{bmatrix}1 & 0\\0 & 1\end{bmatrix}",
        r"$\left[\begin{matrix}a\\b\end{matrix}\right]$",
        r"$\operatorname{argmin}_\theta \mathbb{E}\left[\lVert y - \hat{y} \rVert^2\right]$",
    ],
)
def test_ordinary_formulas_pass(tex: str) -> None:
    assert harmless(tex)


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
