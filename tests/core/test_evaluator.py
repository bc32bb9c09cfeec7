import pytest

from autogen_nb.core.analysis import effects
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.messages import CodeBlock

GROUND = PathScope("/home/ann/work", "/home/ann/work/autogen_files/main", "/home/ann")


def written(code: str) -> list[str]:
    return [
        effect.target for effect in effects(CodeBlock("python", code), GROUND) if effect.kind in ("write", "write_own")
    ]


@pytest.mark.parametrize(
    ("code", "targets"),
    [
        ("df.to_csv('a' + '.csv')", ["a.csv"]),
        ("df.to_csv('a%d.csv' % 1)", ["a1.csv"]),
        ("df.to_csv('a%s%s.csv' % 'x')", [""]),
        ("df.to_csv('{}-{}.csv'.format('a', 1))", ["a-1.csv"]),
        ("df.to_csv('{:>3}.csv'.format('a'))", [""]),
        ("df.to_csv('/'.join(['a', 'b.csv']))", ["a/b.csv"]),
        ("df.to_csv('/'.join(parts))", [""]),
        ("df.to_csv(' A.csv '.strip())", ["A.csv"]),
        ("df.to_csv('A.csv'.lower())", ["a.csv"]),
        ("df.to_csv('a'.center(3))", [""]),
        ("df.to_csv(f'{1}-{True}.csv')", ["1-True.csv"]),
        ("df.to_csv(f'{1.5}.csv')", [""]),
        ("df.to_csv(f'{x:>3}.csv')", [""]),
        ("df.to_csv(f'out/{name}.csv')", ["out/*.csv"]),
        ("df.to_csv('out/plot_' + name + '.csv')", ["out/plot_*.csv"]),
        ("df.to_csv(f'{folder}/x.csv')", [""]),
        ("df.to_csv(f'out/{name}')", [""]),
        ("df.to_csv(f'{name}.csv')", [""]),
        ("import os\ndf.to_csv(os.path.join('out', f'{name}.csv'))", ["out/*.csv"]),
        ("df.to_csv('a.csv' if x else 'b.csv')", ["a.csv", "b.csv"]),
        ("df.to_csv(None or 'b.csv')", ["b.csv"]),
        ("p = [('a', 'b.csv'), ('c', 'd.csv')]\nfor name, path in p:\n    df.to_csv(path)", ["b.csv", "d.csv"]),
        ("for i, path in enumerate(['a.csv']):\n    df.to_csv(path)", ["a.csv"]),
        ("for a, b in zip(['x.csv'], ['y.csv']):\n    df.to_csv(b)", ["y.csv"]),
        ("for n in range(2):\n    df.to_csv(f'{n}.csv')", ["0.csv", "1.csv"]),
        ("for n in range(10_000):\n    df.to_csv(f'{n}.csv')", [""]),
        ("for n in range(1, 2, 0):\n    df.to_csv(f'{n}.csv')", [""]),
        ("for n in range(k):\n    df.to_csv(f'{n}.csv')", [""]),
        ("d = {'a': 'a.csv'}\ndf.to_csv(d['a'])", ["a.csv"]),
        ("d = {'a': 'a.csv'}\ndf.to_csv(d.get('a'))", ["a.csv"]),
        ("d = {}\ndf.to_csv(d.get('a'))", [""]),
        ("d = {**x}\nfor k in d:\n    df.to_csv(k)", [""]),
        ("d = {'a.csv': 1}\nfor k in d:\n    df.to_csv(k)", ["a.csv"]),
        ("d = {'a.csv': 1}\nfor k in d.keys():\n    df.to_csv(k)", ["a.csv"]),
        ("d = {'a': 'a.csv'}\nfor v in d.values():\n    df.to_csv(v)", ["a.csv"]),
        ("d = {}\ndf.to_csv(d['x'])", [""]),
        ("xs = ['a.csv', 'b.csv']\ndf.to_csv(xs[-1])", ["b.csv"]),
        ("xs = ['a.csv', 'b.csv']\ndf.to_csv(xs[k])", ["a.csv", "b.csv"]),
        ("xs = ['a.csv'] + ['b.csv']\ndf.to_csv(xs[1])", ["b.csv"]),
        ("xs = [['a.csv' if q else 'b.csv']]\n[df.to_csv(y) for ys in xs for y in ys]", ["a.csv", "b.csv"]),
        ("xs = [['a.csv'] if q else ['b.csv']]\ndf.to_csv(xs[0][0])", ["a.csv", "b.csv"]),
        ("xs = [('a.csv',) if q else ('b.csv',)]\nfor ys in xs:\n    df.to_csv(ys[0])", ["a.csv", "b.csv"]),
        ("xs = ['a.csv']\nxs.append(y)\ndf.to_csv(xs[0])", ["a.csv", ""]),
        ("path = 'a.csv'\npath += '.gz'\ndf.to_csv(path)", ["a.csv", ""]),
        ("xs = ['a.csv']\nxs[0] = y\ndf.to_csv(xs[0])", ["a.csv", ""]),
        ("a, *b, c = 'x.csv', 'y.csv', 'z.csv'\ndf.to_csv(a)", ["x.csv", ""]),
        ("a, b = 'x.csv', 'y.csv'\ndf.to_csv(b)", ["y.csv"]),
        ("a = b = 'x.csv'\ndf.to_csv(b)", ["x.csv"]),
        ("a: str = 'x.csv'\ndf.to_csv(a)", ["x.csv"]),
        ("df.to_csv(path := 'x.csv')", ["x.csv"]),
        ("out.path = 'x.csv'\ndf.to_csv(out.path)", [""]),
        ("a = b\nb = a\ndf.to_csv(a)", [""]),
        ("def save(to, path='b.csv'):\n    df.to_csv(to)\n    df.to_csv(path)\nsave('a.csv')", ["a.csv", "b.csv"]),
        ("def save(to):\n    df.to_csv(to)\nsave(to='a.csv')", ["a.csv"]),
        ("def save(to, n):\n    df.to_csv(to)\nsave(n=1, to='a.csv')", ["a.csv"]),
        ("def save(to):\n    df.to_csv(to)\nsave()", [""]),
        ("def save(to):\n    df.to_csv(to)", [""]),
        ("def save(*to):\n    df.to_csv(to)\nsave('a.csv')", [""]),
        ("def save(to):\n    df.to_csv(to)\nsave(*xs)", [""]),
        ("def save(to):\n    df.to_csv(to)\nsave('a.csv')\nmap(save, xs)", ["a.csv", ""]),
        ("def name():\n    return 'a.csv'\ndf.to_csv(name())", [""]),
        ("save = lambda to: df.to_csv(to)", [""]),
        ("try:\n    x()\nexcept E as path:\n    df.to_csv(path)", [""]),
        ("from pathlib import Path\ndf.to_csv(Path('a', 'b.csv'))", ["a/b.csv"]),
        ("from pathlib import Path\ndf.to_csv(Path('a').joinpath('b.csv'))", ["a/b.csv"]),
        ("from pathlib import Path\ndf.to_csv(Path('a/b.csv').with_name('c.csv'))", ["a/c.csv"]),
        ("from pathlib import Path\ndf.to_csv(Path('a/b.csv').parent / 'c.csv')", ["a/c.csv"]),
        ("from pathlib import Path\ndf.to_csv(Path('..').parent / 'c.csv')", ["../../c.csv"]),
        ("from pathlib import Path\ndf.to_csv(Path('b.csv').resolve())", ["b.csv"]),
        ("from pathlib import Path\ndf.to_csv('x-' + Path('a/b.csv').stem + '.csv')", ["x-b.csv.csv"]),
        ("from pathlib import Path\ndf.to_csv(Path('a/b.csv').drive)", [""]),
        ("from pathlib import Path\ndf.to_csv(Path('a').owner())", [""]),
        ("from pathlib import Path\nPath.cwd().joinpath('a').mkdir()", ["./a"]),
        ("import os\ndf.to_csv(os.getcwd() + '/a.csv')", ["./a.csv"]),
        ("from pathlib import Path\ndf.to_csv(Path('a').joinpath(1))", [""]),
        ("from pathlib import Path\ndf.to_csv(Path('a').glob())", [""]),
        ("import os\ndf.to_csv(os.path.join('a', 1))", [""]),
        ("df.to_csv(x - y)", [""]),
        ("df.to_csv([x for x in ['a.csv']][0])", ["a.csv"]),
        ("df.to_csv(sorted(['a.csv'])[0])", ["a.csv"]),
        ("df.to_csv(os.environ['X'])", [""]),
        ("with open(x) as f, open('o.txt', 'w') as g:\n    f.copy().write('x')\n    g.write('x')", ["o.txt"]),
    ],
)  # fmt: skip
def test_target_of_a_write_is_reported(code: str, targets: list[str]) -> None:
    assert written(code) == targets
