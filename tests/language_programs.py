"""Programs without tensors: each must print and fail exactly as under Python itself."""

PROGRAMS = r'''
print(7 / 2, 7 // 2, 7 % 3, -7 // 2, 2 ** 10, 5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, 32 >> 2, -(-3), +4)
print(divmod(7, 2), divmod(-7.5, 2), pow(2, 5), pow(3, 4, 5), 10 ** -2, (-8) ** 0.5, 2 ** 0.5)
print(int(3.9), float("2.5"), int("12"), int("ff", 16), round(2.567, 2), round(2.5), abs(-2), bool(0))
print(1e300 * 1e10, -1e300 * 1e10, 0.1 + 0.2, 1 / 3, 1e16, 1e-5, 123456789.123, float("nan"))
print(3 < 4 < 5, 3 < 4 > 5, 1 == 1.0, "a" < "b", [1, 2] < [1, 3], (1, 2) == (1, 2), None is None)
print(True + True, True and 3, 0 or "x", not [], not 3, 1 if [] else 2)
----
print([1, 2, 3][1:], "hello"[::-1], (1, 2, 3)[-1], list(range(10))[2:8:3], "abc" * 3, [0] * 3, (1,) * 2)
a = [1, 2, 3, 4, 5]
a[1:3] = [9]
a[0] += 10
del a[-1]
print(a, a[::-1], len(a), 9 in a, 7 not in a, a.index(9), a.count(9))
a.append(1); a.extend([2, 3]); a.insert(0, 5); a.pop(); a.remove(9); a.reverse(); a.sort()
print(a, sorted(a, reverse=True), sorted("banana"), sorted([[2, 1], [1, 5]]), a.copy(), max(a), min(a))
----
d = {"a": 1, "b": [1, 2], (1, 2): None}
d["c"] = {1: 2}
print(d, d["a"], d.get("z"), d.get("z", 5), list(d), list(d.keys()), list(d.values()), list(d.items()))
print("a" in d, len(d), d.pop("a"), d.setdefault("q", []), {**d, "x": 1}, dict(a=1, b=2), dict([(1, 2)]))
d.update(x=1); d.update({"y": 2}); del d["x"]
print(d, {k: v for k, v in zip("ab", range(2))}, d.keys(), d.values(), d.items())
for k, v in d.items():
    print(k, v)
----
s = {3, 1, 2, 3}
print(s, len(s), 2 in s, s | {5}, s & {1, 2}, s - {1}, s ^ {1, 9}, set(), {1} <= s, sorted(s))
s.add(7); s.discard(100); s.remove(1)
print(sorted(s), {x % 3 for x in range(10)}, s == {2, 3, 7}, set([1, 1]))
----
def f(a, b=2, *args, c=3, **kw):
    return a, b, args, c, kw
print(f(1), f(1, 2, 3, 4), f(1, c=5, d=6), f(*[1, 2], **{"c": 1}), f(b=1, a=0))
def g(x, /, y, *, z=1): return x + y + z
print(g(1, 2), g(1, y=2, z=3))
print((lambda a, b=2: a + b)(1), (lambda *a: a)(1, 2), (lambda **k: k)(x=1))
----
def outer():
    n = 0
    def inner():
        nonlocal n
        n += 1
        return n
    return inner
c = outer()
print(c(), c(), outer()())
total = 0
def add(v):
    global total, made
    total += v
    made = v
add(3); add(4)
print(total, made)
def fact(n): return 1 if n < 2 else n * fact(n - 1)
print(fact(20))
def fs():
    return [lambda: i for i in range(3)], [lambda i=i: i for i in range(3)]
a, b = fs()
print([h() for h in a], [h() for h in b])
----
gen = (x * x for x in range(5) if x % 2)
print(list(gen), list(gen), sum(x for x in range(4)), [(i, j) for i in range(3) for j in range(i)])
print([[j for j in range(i)] for i in range(3)], {i: [j for j in range(i)] for i in range(2)})
def h(n):
    k = 2
    g = (i * k for i in range(n))
    k = 10
    return list(g)
print(h(3), any(x > 2 for x in [1, 2, 3]), all(x for x in [1, 0]), next(iter([5])), next(iter([]), 7))
i = 100
print([i for i in range(3)], i, [y := 5, y ** 2], y)
print([last := v for v in range(3)], last)
----
a, b = 1, 2
a, b = b, a
(c, d), *e = (1, 2), 3, 4
x = y = [1]
x.append(2)
print(a, b, c, d, e, y, x is y)
*p, q = "abc"
print(p, q)
for i, (j, k) in enumerate([(1, 2), (3, 4)], start=1):
    print(i, j, k)
m = [[0] * 2 for _ in range(2)]
m[0][1] = 5
(m[1][0], z) = 7, 8
print(m, z)
----
for i in range(10):
    if i == 2: continue
    if i == 5: break
    print(i, end=" ")
else:
    print("never")
for i in []: pass
else: print("else")
n = 3
while n:
    n -= 1
    if n == 1: continue
    print(n)
else:
    print("done")
def find(xs, t):
    for i, x in enumerate(xs):
        if x == t:
            return i
    return None
print(find([1, 2, 3], 2), find([], 1))
def nested():
    for i in range(3):
        for j in range(3):
            if j == 1: break
            if i == 2: return i, j
print(nested())
----
try:
    1 / 0
except ZeroDivisionError as e:
    print("zero", e, e.args, type(e).__name__, repr(e))
try:
    [][1]
except (KeyError, IndexError) as e:
    print(e)
try:
    {}["k"]
except LookupError as e:
    print(e, repr(e))
try:
    int("x")
except ValueError as e:
    print(e)
else:
    print("no")
finally:
    print("finally")
try:
    print("fine")
except Exception:
    print("bad")
else:
    print("else")
def f():
    try:
        return 1
    finally:
        print("cleanup")
print(f())
def g():
    for i in range(3):
        try:
            continue
        finally:
            print("f", i)
g()
try:
    try:
        raise ValueError("a", 1)
    except ValueError as e:
        raise RuntimeError("b") from e
except RuntimeError as e:
    print(e, e.args)
try:
    try:
        {}["x"]
    except KeyError:
        raise
except KeyError as e:
    print("again", e)
try:
    assert 1 == 2, "two"
except AssertionError as e:
    print(e)
try:
    raise NotImplementedError
except NotImplementedError as e:
    print(repr(e), str(e) == "")
----
print(f"{3.14159:.2f} {42:>6} {42:<6}| {42:^6} {1234567:,} {0.5:%} {255:x} {255:#b} {'s':*^9} {-1.5:+.1e}")
w = 8
print(f"{3.5:{w}.{2}f}|{'x'!r:>5}|{[1, 'a']}|{ {'a': 1}['a'] }|{w=}|{1e10:g}|{True:d}|{'%'}")
print("%d %5.2f %s %r %x %% %05d %-5s| %+d %e" % (3, 2.5, "a", "b", 255, 42, "ab", 5, 12345.678))
print("%(a)s %(b)d" % {"a": 1, "b": 2}, "%s" % [1], "%s %s" % (1, (2,)), "%*d" % (5, 3))
print("{} {}".format(1, 2), "{1} {0}".format(1, 2), "{a} {b[k]} {c[0]:>4}".format(a=1, b={"k": 2}, c=[3]))
print("{:>{w}}".format("x", w=5), "{!r}".format("a"), "{{}}".format(), "{0.real}".format(3))
print(str(1.0), repr("it's"), repr('a"b\'c'), repr("a\nb\t\\"), str([1, "a", None, 2.0, (1,), {}]))
----
s = "Hello, World"
print(s.upper(), s.lower(), s.split(", "), s.replace("l", "L"), s.find("W"), s.startswith("He"))
print("a,b,,c".split(","), " x ".strip(), "-".join(["a", "b"]), "abc".index("c"), s.count("l"))
print("x".ljust(3) + "|", "x".rjust(3), "x".center(5), "7".zfill(3), "a b".title(), "abc".isalpha())
print("one two".partition(" "), "a\nb".splitlines(), "AbC".swapcase(), "12".isdigit(), s[0], s[-1])
print(len(s), "o" in s, "z" not in s, s < "Jello", max(s), sorted("cba"), list("abc"), "".join(reversed("abc")))
print(chr(65), ord("A"), hex(255), bin(5), oct(8), "a" + "b", "é".upper(), "日本"[1])
----
print(list(map(lambda x: x + 1, [1, 2])), list(filter(None, [0, 1, "", "a"])), list(zip([1, 2], "ab")))
print(list(enumerate("ab")), list(reversed([1, 2])), sum([0.5, 0.25]), sum([[1], [2]], []), sum([], 5))
print(max(1, 5, 2), min([3, 1], key=lambda v: -v), max([], default=0), max("abc"), min((2, 1)))
print(sorted([3, 1, 2], key=lambda v: -v), sorted(["b", "A"], key=str.lower), sorted({"b": 1, "a": 2}))
print(range(5), list(range(5, 0, -2)), range(3)[1], len(range(0, 10, 3)), 3 in range(5), 2.0 in range(5), range(3) == range(0, 3))
print(isinstance(1, int), isinstance(True, int), isinstance("a", (int, str)), isinstance([], list), type(1), type("a") is str, type(1.0) == float)
print(callable(print), callable(3), list((1, 2)), tuple([1]), set("aa"), str(None), bool("a"), type(None))
z = zip([1], [2])
print(next(z), next(z, "end"), slice(1, 2), ..., Ellipsis is ...)
----
class Counter:
    step = 2
    def __init__(self, start=0):
        self.n = start
    def up(self):
        self.n += self.step
        return self
    def __repr__(self):
        return f"Counter({self.n})"
    def __add__(self, other):
        return Counter(self.n + other.n)
    def __eq__(self, other):
        return isinstance(other, Counter) and self.n == other.n
    def __len__(self): return self.n
    def __getitem__(self, k): return k * 2
    def __call__(self, x): return x + self.n
    @staticmethod
    def made(): return Counter(100)
    @classmethod
    def of(cls, n): return cls(n)
    @property
    def double(self): return self.n * 2
c = Counter(5)
print(c.up().up(), c.n, Counter.step, c + Counter(1), c == Counter(9), len(c), c[4], c(1))
print(Counter.made(), Counter.of(3), c.double, isinstance(c, Counter), type(c).__name__, [c], str(c))
class Child(Counter):
    step = 3
    def up(self):
        super().up()
        return self.n
k = Child(1)
print(k.up(), isinstance(k, Counter), Child.step, hasattr(k, "n"), getattr(k, "zz", None))
class MyError(ValueError):
    pass
try:
    raise MyError("mine")
except ValueError as e:
    print("caught", e, type(e).__name__)
----
x = 1
x += 2; x -= 1; x *= 5; x /= 2; x //= 1; x **= 2; x %= 7
print(x)
y = 6
y <<= 2; y >>= 1; y |= 1; y &= 7; y ^= 2
print(y)
l = [1]
m = l
l += [2]
l *= 2
print(m, l is m)
s = "a"
s += "b"; s *= 2
print(s)
d = {"k": [1]}
d["k"] += [2]
t: int = 5
u: float
print(d, t)
del t
print("ok") if x else None
if (n := 10) > 5: print(n)
----
def later(): return undefined_here
print(1)
undefined_here = 5
print(later())
print(sum([1, 2]))
sum = 3
print(sum)
del sum
print(sum([4]))
----
print([1, 2] == [1, 2.0], [1, [2, {"a": (3,)}]] == [1, [2, {"a": (3,)}]], [1] == (1,), {"a": 1} == {"a": 1.0}, (1, 2) < (1, 2, 3), [] < [1], [[1, 2], [0]] > [[1, 2]])
x = [1, 2]
x.append(x)
print(x)
y = {}
y["me"] = y
print(y)
print(x[2][2][0], x is x[2])
----
print(1 / 0)
----
x = [1, 2]
print(x[5])
----
print({"a": 1}["b"])
----
f2 = lambda: later_name
f2()
later_name = 2
----
"a" + 1
----
[1] + (2,)
----
print(len(5))
----
for i in 5: pass
----
a, b = 1, 2, 3
----
a, b = [1]
----
a, *b, c = [1]
----
a, b = 5
----
def f(x): return x
f()
----
def f(x): return x
f(1, 2)
----
def f(x, y, z): return x
f(1)
----
def f(x, y=1): return x
f(1, 2, 3)
----
def f(x, *, k): return x
f(1)
----
def f(x): return x
f(1, y=2)
----
def f(x): return x
f(1, x=2)
----
def f(a, b, /): return a
f(1, b=2)
----
def o():
    def inner(x): return x
    return inner
o()()
----
x = 5
x()
----
x = 5
x.foo
----
"abc".foo()
----
x = (1, 2)
x[0] = 1
----
x = "abc"
x[0] = "d"
----
{}[[1]]
----
{[1]: 2}
----
int("abc")
----
float("abc")
----
def f():
    print(v)
    v = 1
f()
----
def f():
    def g():
        return w
    g()
    w = 1
f()
----
raise ValueError("oops")
----
raise ValueError
----
raise KeyError("k")
----
raise RuntimeError("a", 2)
----
assert [] , "empty"
----
assert 0
----
[1, 2].index(5)
----
[].pop()
----
[3, 1].remove(7)
----
max([])
----
next(iter([]))
----
print("a" < 1)
----
[1, "a"].sort()
----
-"a"
----
None + 1
----
range(1.5)
----
"%d" % "x"
----
"%d %d" % (1,)
----
"%d" % (1, 2)
----
"{}".format()
----
"{a}".format()
----
f"{'a':d}"
----
f"{[1]:>5}"
----
x = None
x.attr = 3
----
def f(**k): return k
f(**{1: 2})
----
print(*5)
----
dict([1])
----
"a".join([1])
----
class A:
    pass
a = A()
a.missing
----
class A:
    def f(self): pass
A().f(1)
----
class A:
    def __init__(self, x): self.x = x
A()
----
try:
    1 / 0
finally:
    print("cleanup")
----
def f():
    raise ValueError("in f")
try:
    f()
except TypeError:
    print("not here")
----
sum(["a"])
----
sum("ab")
----
isinstance(1, 2)
----
x = [1, 2, 3]
for v in x:
    if v == 2:
        x.remove(v)
print(x)
d = {1: 2}
for k in d:
    d[k + 1] = 1
----
print(5 .bit_length(), (2.0).is_integer(), (1.5).as_integer_ratio(), 3 .real, (1 + 2j).imag, 1j * 1j)
----
print(round(3.14159, 3), round(-2.5), round(1234, -2), abs(-3.5), abs(3 + 4j), 7.0 // 2, -7 % 3, 5.5 % 2)
print(0x10, 0b11, 0o7, 1_000, 1e3, .5, 5., "\x41\u00e9", r"\n", "a" "b", """x
y""")
----
def f(n):
    """Doc."""
    if n == 0:
        return "zero"
    elif n == 1:
        return "one"
    elif n < 0:
        return "neg"
    else:
        return "many"
print([f(i) for i in (-1, 0, 1, 2)])
print(f.__name__, f.__doc__, (lambda: 0).__name__)
----
def deco(tag):
    def wrap(f):
        def inner(*a, **k):
            return (tag, f(*a, **k))
        return inner
    return wrap
@deco("x")
@deco("y")
def f(v, w=1): return v + w
print(f(1), f(1, w=5))
----
x = 3
def show():
    return [x * i for i in range(3) if i != x], {x: i for i in range(2)}, {i + x for i in range(2)}
print(show())
def multi(rows):
    return [v for row in rows for v in row if v > 1 if v < 5]
print(multi([[1, 2], [3, 9]]))
def cap(n):
    return [lambda k: k + i + n for i in range(3)]
print([h(1) for h in cap(10)])
print(list(map(str, [1, None, 2.5])), list(map(lambda a, b: a * b, [1, 2], [3, 4])))
print((lambda: [i for i in range(3)])(), [(lambda j: j * i)(2) for i in range(3)])
----
import math
from math import sqrt, pi
print(math.sin(0.5), math.sqrt(2), sqrt(9), pi, math.floor(2.7), math.ceil(2.1), math.gcd(12, 18))
print(math.factorial(10), math.isnan(float("nan")), math.inf, math.log(10), math.log(8, 2), math.exp(1), math.hypot(3, 4))
print(math.isclose(0.1 + 0.2, 0.3), math.comb(5, 2), math.prod([1, 2, 3]), math.fsum([0.1] * 10))
math.sqrt(-1)
----
import math
math.log(0)
----
import math
math.sqrt("a")
----
if __name__ == "__main__":
    print("main")
print(type(lambda: 0), type(print), type(Exception("a")), type([].append).__name__, Exception("x", 1))
'''.strip("\n").split("\n----\n")
