"""Tests of values from the command line and of data files, well-meant and hostile."""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import struct
import tracemalloc
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy
import pytest
from command_here import here as gradcli

from gradcli.inputs import InputError, default_of, parse_set
from gradcli.inputs.assignments import is_floating, split_path
from gradcli.inputs.readers import read

MOST = 1 << 30


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("a=4.0", "leaf", 4.0),
        ("a=-4.5e-3", "leaf", -0.0045),
        ("a = 4.0", "leaf", 4.0),
        ("a=[1.0, 2, 3]", "leaf", [1.0, 2, 3]),
        ("a=[[1, 2], [3.0, 4]]", "leaf", [[1, 2], [3.0, 4]]),
        ("a=inf", "leaf", math.inf),
        ("a=-inf", "leaf", -math.inf),
        ("a=[nan, 1]", "leaf", None),
        ("n=3", "plain", 3),
        ("n=-3", "plain", -3),
        ("flag=True", "plain", True),
        ("nothing=None", "plain", None),
        ("label='loss'", "plain", "loss"),
        ('label="loss"', "plain", "loss"),
        ("ns=[1, 2]", "plain", [1, 2]),
        ("both=(1.0, 2)", "plain", (1.0, 2)),
        ("d={'lr': 0.1}", "plain", {"lr": 0.1}),
        ("empty=[]", "plain", []),
        ("mixed=[1.0, 'a']", "plain", [1.0, "a"]),
    ],
)
def test_values(text: str, kind: str, value: Any) -> None:
    given = parse_set(text)
    assert given.kind == kind
    if value is not None or kind == "plain":
        assert given.value == value and type(given.value) is type(value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a", "expected NAME=VALUE"),
        ("=4", "expected NAME=VALUE"),
        ("a b=4", "expected NAME=VALUE"),
        ("a=", "is not a value"),
        ("a=loss", "is not a value"),
        ("a=1+2", "is not a value"),
        ("a=__import__('os')", "is not a value"),
        ("a=[x for x in y]", "is not a value"),
        ("a=--4", "is not a value"),
        ("a=b'x'", "is not a value"),
        ("a={**{}}", "is not a value"),
        ("a=" + "[" * 5000, "is not a value"),
        ("a=" + "-" * 100_000 + "1", "is not a value"),
        ("a=" + "1" * 10_000, "is not a value"),
        ("a=" + "1" * (1 << 21), "characters"),
        ("a=\0", "is not a value"),
    ],
)
def test_refused_values(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        parse_set(text)
    assert len(str(caught.value)) < 300


def test_advice_for_a_bare_word() -> None:
    with pytest.raises(InputError) as caught:
        parse_set("label=loss")
    assert "label='loss'" in caught.value.advice and "@loss" in caught.value.advice


def test_floating() -> None:
    assert is_floating(1.0) and is_floating([[1], [2.0]])
    assert not is_floating(1) and not is_floating([]) and not is_floating([1.0, "a"])


def test_paths_with_keys() -> None:
    assert split_path("data.npz:X") == ("data.npz", "X")
    assert split_path("d/data.npz") == ("d/data.npz", "")
    assert split_path("a:b/data.npy") == ("a:b/data.npy", "")


# ---------------------------------------------------------------- files that are as they say


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int64", "uint8", "bool", ">f4"]
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4)])
def test_npy(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    array = (numpy.arange(math.prod(shape)) % 2).reshape(shape).astype(dtype)
    numpy.save(tmp_path / "a.npy", array)
    got = read(str(tmp_path / "a.npy"))
    assert got.shape == shape and got.dtype.name == array.dtype.newbyteorder("=").name
    assert (got == array).all() and got.flags.writeable


def test_npy_in_fortran_order(tmp_path: Path) -> None:
    array = numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3))
    numpy.save(tmp_path / "a.npy", array)
    assert (read(str(tmp_path / "a.npy")) == array).all()


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_npz(tmp_path: Path, save: Any) -> None:
    path = str(tmp_path / "a.npz")
    save(path, X=numpy.arange(4.0), y=numpy.arange(3))
    assert read(path, "X").tolist() == [0, 1, 2, 3]
    assert read(path, "y").dtype == numpy.int64
    with pytest.raises(InputError, match="holds X, y"):
        read(path, "z")
    with pytest.raises(InputError, match="which of its arrays"):
        read(path)


def test_npz_of_one_needs_no_key(tmp_path: Path) -> None:
    numpy.savez(tmp_path / "a.npz", X=numpy.ones(2))
    assert read(str(tmp_path / "a.npz")).tolist() == [1, 1]


def test_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1.5,2\n3,4\n")
    path = str(tmp_path / "a.csv")
    assert read(path).tolist() == [[1.5, 2.0], [3.0, 4.0]] and read(path).dtype == numpy.float32
    assert read(path, "y").tolist() == [2.0, 4.0]
    assert read(path, "0").tolist() == [1.5, 3.0]
    with pytest.raises(InputError, match="columns are x, y"):
        read(path, "z")


def test_csv_of_integers_and_of_one_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1\n2\n\n3\n")
    got = read(str(tmp_path / "a.csv"))
    assert got.tolist() == [1, 2, 3] and got.dtype == numpy.int64


def test_csv_errors_name_the_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3\n")
    with pytest.raises(InputError, match="row 3 has 1 numbers"):
        read(str(tmp_path / "a.csv"))
    (tmp_path / "a.csv").write_text("1,2\n3,four\n")
    with pytest.raises(InputError, match="row 2: 'four' is not a number"):
        read(str(tmp_path / "a.csv"))


def safetensors(entries: dict[str, Any], data: bytes) -> bytes:
    header = json.dumps(entries).encode()
    return struct.pack("<Q", len(header)) + header + data


def test_safetensors(tmp_path: Path) -> None:
    data = numpy.arange(6, dtype="<f4").tobytes() + numpy.array([1, 2], dtype="<i8").tobytes()
    entries = {
        "__metadata__": {"format": "pt"},
        "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "n": {"dtype": "I64", "shape": [2], "data_offsets": [24, 40]},
    }
    path = tmp_path / "m.safetensors"
    path.write_bytes(safetensors(entries, data))
    assert read(str(path), "w").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert read(str(path), "n").tolist() == [1, 2]


def test_bfloat16(tmp_path: Path) -> None:
    entry = {"w": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}
    (tmp_path / "m.safetensors").write_bytes(safetensors(entry, b"\x80\x3f\x00\xc0"))
    assert read(str(tmp_path / "m.safetensors")).tolist() == [1.0, -2.0]


def idx(shape: tuple[int, ...], data: bytes, code: int = 8) -> bytes:
    return bytes([0, 0, code, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + data


@pytest.mark.parametrize("name", ["a.idx", "a-idx2-ubyte", "a.idx.gz", "train-idx2-ubyte.gz"])
def test_idx(tmp_path: Path, name: str) -> None:
    raw = idx((2, 3), bytes(range(6)))
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    assert read(str(tmp_path / name)).tolist() == [[0, 1, 2], [3, 4, 5]]


# ---------------------------------------------------------------- files that lie


def npy(header: str, data: bytes = b"") -> bytes:
    raw = header.encode("latin1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(raw)) + raw + data


def npy_of(shape: str, data: bytes = b"", descr: str = "<f4", order: str = "False") -> bytes:
    return npy(f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}}}", data)


def one(data: int = 8, **changes: Any) -> bytes:
    """A file with the tensor x of two float32, changed."""
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}
    return safetensors({"x": entry}, bytes(data))


def header(text: str | bytes, data: int = 8) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(raw)) + raw + bytes(data)


def zipped(*members: tuple[str, bytes], way: int = zipfile.ZIP_DEFLATED) -> bytearray:
    found = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(found, "w", way) as archive:
        warnings.simplefilter("ignore")
        for name, data in members:
            archive.writestr(name, data)
    return bytearray(found.getvalue())


def lying(field: int, value: int, width: str = "<I") -> bytes:
    """An archive whose directory says something else at this place."""
    raw = zipped(("x.npy", npy_of("(2,)", bytes(8))))
    struct.pack_into(width, raw, raw.find(b"PK\x01\x02") + field, value)
    return bytes(raw)


ROW = '{"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}'
TWO = {"dtype": "F32", "shape": [2]}
HOSTILE = {
    "nothing_is_huge.npy": npy_of("(0, 4611686018427387904, 4611686018427387904)"),
    "true.npy": npy_of("(True,)", bytes(4)),
    "order.npy": npy_of("(2,)", bytes(8), order="[1]"),
    "digits.npy": npy_of(f"({'9' * 60000},)"),
    "hexadecimal.npy": npy_of(f"(0x{'f' * 60000},)"),
    "below.npy": npy_of(f"(0, -0x{'f' * 60000})"),
    "type_of_digits.npy": npy(
        f"{{'descr': 0x{'f' * 60000}, 'fortran_order': False, 'shape': (1,)}}", bytes(8)
    ),
    "date.npy": npy_of("(1,)", bytes(8), "<M8[s]"),
    "text.npy": npy_of("(1,)", bytes(8), "|S8"),
    "power.npy": npy_of("(2**62,)"),
    "minus.npy": npy("{'descr': " + "-" * 60000 + "1}"),
    "unhashable.npy": npy("{[]: 1}"),
    "zero_in_it.npy": npy_of("(2,)", bytes(8)).replace(b"shape", b"sha\0e"),
    "early.npy": npy_of("(2,)", bytes(7)),
    "twice.npz": bytes(zipped(("x.npy", npy_of("(1,)", bytes(4))), ("x.npy", b""))),
    "both.npz": bytes(zipped(("x.npy", npy_of("(1,)", bytes(4))), ("x", b""))),
    "pickled.npz": bytes(zipped(("x.npy", npy_of("(1,)", b"cos\nsystem\n.", "|O")))),
    "bz2.npz": bytes(zipped(("x.npy", npy_of("(2,)", bytes(8))), way=zipfile.ZIP_BZIP2)),
    "cut.npz": bytes(zipped(("x.npy", npy_of("(2,)", bytes(8))))[:-9]),
    "empty.npz": bytes(zipped()),
    "size.npz": lying(24, 1 << 31),
    "place.npz": lying(42, 1 << 31),
    "secret.npz": lying(8, 1, "<H"),
    "version.npz": lying(6, 99, "<H"),
    "sum.npz": lying(16, 1),
    "zero.safetensors": header("", 0),
    "short.safetensors": b"\0\0\0",
    "negative.safetensors": one(shape=[-2]),
    "before.safetensors": one(data_offsets=[-8, 0]),
    "small.safetensors": one(shape=[1]),
    "large.safetensors": one(shape=[3]),
    "gap.safetensors": one(16, data_offsets=[8, 16]),
    "more.safetensors": one(80),
    "less.safetensors": one(4),
    "three.safetensors": one(data_offsets=[0, 8, 9]),
    "fraction.safetensors": one(shape=[2.0]),
    "truth.safetensors": one(shape=[True, 2]),
    "shape.safetensors": one(shape="2"),
    "shapes.safetensors": one(shape={"2": 1}),
    "kinds.safetensors": one(dtype=["F32"]),
    "kind.safetensors": one(dtype={"F32": 1}),
    "unknown.safetensors": one(dtype="F32X"),
    "extra.safetensors": one(more=1),
    "dims.safetensors": one(shape=[1] * 40 + [2]),
    "nothing_is_huge.safetensors": one(0, shape=[0, 1 << 62], data_offsets=[0, 0]),
    "null.safetensors": safetensors({"x": None}, bytes(8)),
    "over.safetensors": safetensors(
        {"x": {**TWO, "data_offsets": [0, 8]}, "y": {**TWO, "data_offsets": [4, 12]}}, bytes(12)
    ),
    "twice.safetensors": header(f'{{"x": {ROW}, "x": {ROW}}}'),
    "twice_in_it.safetensors": header('{"x": {"dtype": "I32", ' + ROW[1:] + "}"),
    "deep.safetensors": header('{"x": ' + "[" * 200_000),
    "deep_beside.safetensors": header(
        '{"__metadata__": ' + "[" * 99_999 + "]" * 99_999 + f', "x": {ROW}}}'
    ),
    "product.safetensors": one(shape=[1 << 62] * 400_000),
    "end.safetensors": one(dtype="X", data_offsets=[0, 10**4000]),
    "digits.safetensors": header(ROW.replace("[2]", f"[{'9' * 99_999}]").join(('{"x": ', "}"))),
    "nan.safetensors": header(f'{{"x": {ROW.replace("[2]", "[NaN]")}}}'),
    "utf16.safetensors": header(f'{{"x": {ROW}}}'.encode("utf-16")),
    "latin.safetensors": header(b'{"\xff": 1}'),
    "dims.idx": bytes([0, 0, 8, 255]) + struct.pack(">I", 1) * 255 + b"a",
    "more.idx": idx((2,), b"abc"),
    "nothing_is_huge.idx": idx((0, 2**32 - 1, 2**32 - 1, 2**32 - 1), b""),
    "huge.idx": idx((2**32 - 1,) * 4, b"", 14),
    "none.idx": b"",
    "two.idx": b"\0\0",
    "more.idx.gz": gzip.compress(idx((2,), b"abc")),
    "sum.idx.gz": gzip.compress(idx((2,), b"ab"))[:-8] + bytes(8),
    "end.idx.gz": gzip.compress(idx((2,), b"ab"))[:-6],
    "name.idx.gz": b"\x1f\x8b\x08\x08" + bytes(6) + b"a" * 100_000,
    "flags.idx.gz": b"\x1f\x8b\x08\xff" + b"a" * 1000,
    "zero.csv": b"1,2\n3,\x004\n",
    "ragged.csv": b"1,2\n3\n",
    "word.csv": b"1\nx\n",
    "escape.csv": b"1\n\x1b[31mred\n",
    "long_word.csv": b"1\n" + b"x" * 1_000_000,
    "names.csv": b"a,b\n",
    "comma_at_the_end.csv": b"1,2,\n",
    "lines.csv": b"\n\n",
    "quoted.csv": b'1\n"2"\n',
    "wide.csv": b"1,2\n" + b"," * (1 << 23),
    "utf16.csv": "1,2\n".encode("utf-16"),
    "semicolons.csv": b"1;2\n3;4\n",
    "underscore.csv": b"1\n1_000\n",
    "hex.csv": b"1\n0x10\n",
    "digits.csv": "1\n\u0661\n".encode(),
    "large.csv": b"1\n9223372036854775808\n",
    "larger.csv": b"1," + b"9" * 1_000_000 + b"\n",
    "empty.npy": b"",
    "short.npy": b"\x93NUM",
    "asks.npy": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000,)}"),
    "wraps.npy": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"),
    "negative.npy": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -8)}", bytes(64)),
    "object.npy": npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"cos\nsystem\n."),
    "fields.npy": npy("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,)}"),
    "code.npy": npy("__import__('os').system('true')"),
    "deep.npy": npy("(" * 3000),
    "long.npy": b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 31),
    "version.npy": b"\x93NUMPY\x09\x00" + bytes(100),
    "shape.npy": npy("{'descr': '<f8', 'fortran_order': False, 'shape': 'x'}"),
    "dims.npy": npy(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {(1,) * 70}}}", bytes(8)),
    "not.npz": b"PK\x03\x04nothing",
    "text.npz": b"hello",
    "huge.safetensors": struct.pack("<Q", 1 << 62),
    "early.safetensors": struct.pack("<Q", 50) + b"{",
    "list.safetensors": safetensors([1], b""),  # type: ignore[arg-type]
    "asks.safetensors": safetensors(
        {"w": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]}}, b""
    ),
    "back.safetensors": safetensors(
        {"w": {"dtype": "F32", "shape": [1], "data_offsets": [8, 4]}}, bytes(8)
    ),
    "text.safetensors": safetensors(
        {"w": {"dtype": "F32", "shape": ["a"], "data_offsets": [0, 4]}}, bytes(4)
    ),
    "asks.idx": idx((1 << 30, 4), b""),
    "kind.idx": idx((1,), b"a", code=7),
    "asks.idx.gz": gzip.compress(idx((1 << 31, 1 << 31), b"")),
    "early.idx.gz": gzip.compress(idx((100,), bytes(10))),
    "not.gz": b"hello",
    "cut.idx.gz": gzip.compress(idx((100,), os.urandom(100)))[:60],
    "binary.csv": bytes(range(128, 256)),
    "empty.csv": b"",
    "model.pt": b"PK",
    "model.pkl": b"cos\nsystem\n.",
    "what.dat": b"1,2",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(HOSTILE[name])
    with pytest.raises(InputError) as caught:
        read(str(tmp_path / name), most=MOST)
    said = str(caught.value) + caught.value.advice
    assert len(said) < 800 and said.isprintable()


def test_whole_numbers_stay_whole(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("9007199254740993\n-9223372036854775808\n")
    assert read(str(tmp_path / "a.csv")).tolist() == [2**53 + 1, -(2**63)]
    (tmp_path / "a.csv").write_text("99999999999999999999\r\n1e999\r1.5\n")
    assert read(str(tmp_path / "a.csv")).tolist() == pytest.approx([1e20, math.inf, 1.5])


@pytest.mark.parametrize("name", ["a.npy", "a.safetensors"])
def test_any_byte_but_zero_is_true(tmp_path: Path, name: str) -> None:
    """NumPy reads the byte itself, so a sum of such booleans is anything."""
    data = b"\0\1\2\xff"
    entry = {"x": {"dtype": "BOOL", "shape": [4], "data_offsets": [0, 4]}}
    raw = npy_of("(4,)", data, "|b1") if name.endswith("npy") else safetensors(entry, data)
    (tmp_path / name).write_bytes(raw)
    assert read(str(tmp_path / name)).sum() == 3


def test_reading_takes_no_more_than_the_data(tmp_path: Path) -> None:
    """What a compressed file claims and does not hold is never there; nothing is held twice."""
    size = 10_000_000
    (tmp_path / "a.idx.gz").write_bytes(gzip.compress(idx((size,), bytes(size)), 1))
    (tmp_path / "b.idx.gz").write_bytes(gzip.compress(idx((8 * size,), bytes(2 * size)), 1))
    numpy.save(tmp_path / "c.npy", numpy.zeros(size, numpy.uint8))
    (tmp_path / "d.csv").write_bytes(b"12\n" * 100_000)
    piece = 4_000_000  # on its way
    for name, most in (
        ("a.idx.gz", 1.2 * size + piece), ("c.npy", 1.2 * size + piece), ("d.csv", 2_500_000),
    ):  # fmt: skip
        tracemalloc.start()
        read(str(tmp_path / name))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < most, name
    with pytest.raises(InputError, match="ends early"):
        read(str(tmp_path / "b.idx.gz"))


@pytest.mark.parametrize("line", [
    "x", "x=", "=4", "x y=2", "x:2", "x=@", "x=1=2", "x=@missing.npy",
    "x=@../a.npy", "x=@/etc/passwd", "x=@link.npy", "x=@in/link.npy", "x=@notes.txt", "x=@pipe.npy",
    "x=__import__('os')", "x=[1,", "x=[1.0,[2.0,3.0]]", "x={[1]:2}", "x={1:2}[0]", "x=f'{1}'",
    "x=b'1'", "x=1j", "x=...", "x=" + "9" * 10_000, "x=" + "[" * 300 + "]" * 300,
    "x=" + "-" * 5000 + "1", "x=@" + "a" * 5000 + ".npy", "x=\x1b[31m", "x=(1.0,)*10**9", "x.y=2",
    "xx=1.0", "print=2",
])  # fmt: skip
def test_a_line_that_sets_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """As --set is, at its own line; whatever command reads it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    numpy.save(tmp_path / "out" / "a.npy", numpy.ones(2))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "link.npy").symlink_to("../out/a.npy")
    (tmp_path / "home" / "in").symlink_to("../out")
    (tmp_path / "home" / "notes.txt").write_text("1\n")
    os.mkfifo(tmp_path / "home" / "pipe.npy")
    (tmp_path / "home" / "p.expr").write_text(f"# a title\n# set: {line}\nprint(x)\n")
    for verb in ("run", "check"):
        done = gradcli(verb, "home/p.expr")
        page = done.stdout + done.stderr
        assert done.returncode == 2 and "home/p.expr:2:1" in page, page
        assert page.count("UsageError: ") == 1 and len(page) < 1500 and "\x1b" not in page


def test_a_bomb_in_an_archive(tmp_path: Path) -> None:
    """The directory claims far more than deflate could make of what is there."""
    header = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (9000000,)}")
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", header + bytes(9_000_000))
    assert read(str(path), "x").nbytes == 9_000_000
    for key in ("x", ""):
        with pytest.raises(InputError, match=r"bomb\.npz:x: 9,000,000 bytes.*--max-memory"):
            read(str(path), key, most=1_000_000)
    raw = path.read_bytes().replace(struct.pack("<I", 9_000_000 + len(header)), b"\xff\xff\xff\x7f")
    path.write_bytes(raw)
    with pytest.raises(InputError):
        read(str(path), "x", most=1 << 40)


def test_too_large_for_the_budget(tmp_path: Path) -> None:
    numpy.save(tmp_path / "a.npy", numpy.zeros(1000))
    with pytest.raises(InputError, match="--max-memory"):
        read(str(tmp_path / "a.npy"), most=100)
    (tmp_path / "a.csv").write_text("1\n" * 1000)
    with pytest.raises(InputError, match="--max-memory"):
        read(str(tmp_path / "a.csv"), most=100)


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.csv", "x.safetensors", "x-idx", "x.gz"])
def test_a_disk_that_fails(tmp_path: Path, name: str) -> None:
    """The system opens it, and refuses to read it."""
    if not os.path.exists("/proc/self/mem"):
        pytest.skip("no file here that opens and can't be read")
    (tmp_path / name).symlink_to("/proc/self/mem")
    with pytest.raises(InputError):
        read(str(tmp_path / name))


def test_not_a_file(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.npy", tmp_path, Path("/dev/zero"), Path("a\0b.npy")):
        with pytest.raises(InputError):
            read(str(path))


# ---------------------------------------------------------------- data that a program names itself


def test_data_beside_the_program(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    numpy.save(home / "data" / "x.npy", numpy.ones(2))
    numpy.save(tmp_path / "secret.npy", numpy.ones(2))
    program = str(home / "p.expr")
    assert default_of("x", "@data/x.npy", program, MOST).value.tolist() == [1, 1]
    (home / "link.npy").symlink_to(tmp_path / "secret.npy")
    (home / "up").symlink_to(tmp_path)
    for path in ("../secret.npy", str(tmp_path / "secret.npy"), "link.npy", "up/secret.npy",
                 "data/../../secret.npy"):  # fmt: skip
        with pytest.raises(InputError):
            default_of("x", f"@{path}", program, MOST)
    with pytest.raises(InputError, match="without a file"):
        default_of("x", "@x.npy", None, MOST)
