r"""An allow-list of TeX commands: a formula with any other command is shown as text.

JupyterLab's MathJax loads all its packages. These have commands such as ``\href``, ``\require`` and ``\style``, and
macros that also affect later outputs. MathJax's own filter stops scripts, but not links, overlays, redefinitions or
loops.
"""

import re
from functools import cache

LONGEST = 4_000

_DEEPEST = 12
_COMMAND = re.compile(r"\\([A-Za-z]+|.|\Z)", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)(?:\s*\{([A-Za-z]+\*?)\})?")
# A line break with a distance can move text over other outputs, and "*{n}" can repeat a column without limit.
_FAR = re.compile(r"\\\\\s*\*?\s*\[|\*\s*\{")
_ENVIRONMENTS = frozenset(
    "align align* aligned alignedat array bmatrix Bmatrix cases eqnarray equation equation* gather gather* "
    "gathered matrix pmatrix smallmatrix split vmatrix Vmatrix".split()
)
_SYMBOLS = frozenset(",;: {}|_%&#$\\()[]>")
_COMMANDS = """
alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi omicron pi varpi rho
varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi
Omega aleph beth hbar ell imath jmath wp Re Im partial nabla infty emptyset varnothing prime forall exists nexists
neg lnot top bot angle triangle square blacksquare checkmark dagger ddagger degree
frac dfrac tfrac cfrac sqrt binom dbinom tbinom over choose
sum prod coprod int iint iiint oint bigcup bigcap bigvee bigwedge bigoplus bigotimes bigodot biguplus limits nolimits
pm mp times div cdot ast star circ bullet oplus ominus otimes oslash odot cup cap uplus sqcup sqcap vee wedge land lor
setminus smallsetminus wr amalg diamond bigcirc
leq le geq ge neq ne equiv sim simeq approx cong propto ll gg prec succ preceq succeq subset supset subseteq supseteq
subsetneq supsetneq in ni notin mid nmid parallel perp models vdash dashv asymp doteq lesssim gtrsim leqslant geqslant
triangleq not lt gt
leftarrow rightarrow to gets leftrightarrow Leftarrow Rightarrow Leftrightarrow longleftarrow longrightarrow
Longleftarrow Longrightarrow longleftrightarrow Longleftrightarrow mapsto longmapsto uparrow downarrow updownarrow
Uparrow Downarrow implies impliedby iff nearrow searrow swarrow nwarrow rightharpoonup leftharpoonup rightleftharpoons
xrightarrow xleftarrow
left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm lbrace rbrace lbrack rbrack
langle rangle lvert rvert lVert rVert vert Vert lfloor rfloor lceil rceil backslash
hat widehat bar overline underline vec tilde widetilde dot ddot check breve acute grave mathring overrightarrow
overleftarrow overbrace underbrace overset underset stackrel substack boxed
mathrm mathbf mathit mathsf mathtt mathcal mathbb mathfrak mathscr boldsymbol bm bf rm it text textrm textbf textit
textsf texttt operatorname mathop mathrel mathbin mathord mathopen mathclose displaystyle textstyle scriptstyle
scriptscriptstyle
sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth exp log ln lg max min sup inf lim limsup liminf det
dim ker deg gcd hom arg Pr bmod pmod mod
ldots cdots vdots ddots dots dotsc dotsb dotsm dotsi quad qquad thinspace enspace space nonumber notag hline
begin end
"""


def harmless(tex: str) -> bool:
    """Returns whether TeX is short, uses only known commands and environments, and has balanced, shallow braces."""
    return len(tex) <= LONGEST and _balanced(tex) and _known(tex)


@cache
def _commands() -> frozenset[str]:
    return frozenset(_COMMANDS.split()) | _SYMBOLS


def _known(tex: str) -> bool:
    commands = all(match[1] in _commands() for match in _COMMAND.finditer(tex))
    environments = all(match[1] in _ENVIRONMENTS for match in _ENVIRONMENT.finditer(tex))
    return commands and environments and not _FAR.search(tex)


def _balanced(tex: str) -> bool:
    depth = 0
    for brace in re.findall(r"\\.|[{}]", tex, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if not 0 <= depth <= _DEEPEST:
            return False
    return depth == 0
