"""language: sklearn's made samples, drawn from NumPy's legacy stream in sklearn's order."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from ....arrays.payment import pay
from ....arrays.streams import RandomState, current
from ....arrays.values import host, wrap
from .. import arrays as _operations  # noqa: F401 - of the arrays that are handed out
from ..publishing import functions
from .known_samples import LOADERS

Drawn = numpy.random.RandomState
BYTES = 8  # of a number


def stream_of(given: Any) -> Drawn:
    """What random_state stands for."""
    if given is None:
        return current().source
    if isinstance(given, RandomState):
        return given.source
    seed = host(given)
    if isinstance(seed, bool) or not isinstance(seed, int | numpy.integer):
        raise ValueError(f"{seed!r} cannot be used to seed a numpy.random.RandomState instance")
    return Drawn(seed)


def paid(rows: Any, columns: Any = 1) -> tuple[int, int]:
    """Both sizes, after they were charged with the copies that are made on the way."""
    sizes = (operator.index(host(rows)), operator.index(host(columns)))
    if min(sizes) < 0:
        raise ValueError("negative dimensions are not allowed")
    pay(8 * sizes[0] * sizes[1], 4 * BYTES * sizes[0] * (sizes[1] + 1))
    return sizes


def shuffled(stream: Drawn, *arrays: Any) -> list[Any]:
    places = numpy.arange(len(arrays[0]))
    stream.shuffle(places)
    return [array[places] for array in arrays]


def _halves(n_samples: Any) -> tuple[int, int]:
    """How many points the outer and the inner line have."""
    given = host(n_samples)
    if isinstance(given, tuple | list):
        outer, inner = map(operator.index, given)
    else:
        outer = operator.index(given) // 2
        inner = operator.index(given) - outer
    paid(outer + inner, 2)
    return outer, inner


def _two_lines(lines: list[Any], stream: Drawn, shuffle: Any, noise: Any) -> Any:
    points = numpy.vstack([numpy.append(*parts) for parts in zip(*lines, strict=True)]).T
    kinds = numpy.hstack([
        numpy.full(len(line[0]), kind, dtype=numpy.intp) for kind, line in enumerate(lines)
    ])  # fmt: skip
    if shuffle:
        points, kinds = shuffled(stream, points, kinds)
    if noise is not None:
        points += stream.normal(scale=host(noise), size=points.shape)
    return wrap((points, kinds))


def make_moons(
    n_samples: Any = 100, *, shuffle: Any = True, noise: Any = None, random_state: Any = None
) -> Any:
    outer, inner = (numpy.linspace(0, numpy.pi, size) for size in _halves(n_samples))
    lines = [
        (numpy.cos(outer), numpy.sin(outer)),
        (1 - numpy.cos(inner), 1 - numpy.sin(inner) - 0.5),
    ]
    return _two_lines(lines, stream_of(random_state), shuffle, noise)


def make_circles(
    n_samples: Any = 100, *, shuffle: Any = True, noise: Any = None, random_state: Any = None,
    factor: Any = 0.8,
) -> Any:  # fmt: skip
    outer, inner = (
        numpy.linspace(0, 2 * numpy.pi, size, endpoint=False) for size in _halves(n_samples)
    )
    lines = [
        (numpy.cos(outer), numpy.sin(outer)),
        (numpy.cos(inner) * host(factor), numpy.sin(inner) * host(factor)),
    ]
    return _two_lines(lines, stream_of(random_state), shuffle, noise)


def make_blobs(
    n_samples: Any = 100, n_features: Any = 2, *, centers: Any = None, cluster_std: Any = 1.0,
    center_box: Any = (-10.0, 10.0), shuffle: Any = True, random_state: Any = None,
    return_centers: Any = False,
) -> Any:  # fmt: skip
    stream, given, made = stream_of(random_state), host(n_samples), host(centers)
    many = isinstance(given, list | tuple | numpy.ndarray)
    if made is None:
        made = len(given) if many else 3
    if isinstance(made, int | numpy.integer):
        sizes = paid(made, n_features)
        low, high = host(center_box)
        made = stream.uniform(low, high, size=sizes)
    made = numpy.asarray(made, dtype=float)
    number = len(made)
    parts = list(map(int, given)) if many else [int(given) // number] * number
    if not many:
        for place in range(int(given) % number):
            parts[place] += 1
    paid(sum(parts), made.shape[1])
    spread = host(cluster_std)
    spreads = spread if isinstance(spread, list | tuple | numpy.ndarray) else [spread] * number
    rows = [
        stream.normal(loc=center, scale=std, size=(size, made.shape[1]))
        for center, std, size in zip(made, spreads, parts, strict=True)
    ]
    points = numpy.concatenate(rows)
    kinds = numpy.repeat(numpy.arange(number), parts)
    if shuffle:
        points, kinds = shuffled(stream, points, kinds)
    return wrap((points, kinds, made) if return_centers else (points, kinds))


def make_regression(
    n_samples: Any = 100, n_features: Any = 100, *, n_informative: Any = 10, n_targets: Any = 1,
    bias: Any = 0.0, noise: Any = 0.0, shuffle: Any = True, coef: Any = False,
    random_state: Any = None,
) -> Any:  # fmt: skip
    stream = stream_of(random_state)
    rows, columns = paid(n_samples, n_features)
    _, targets = paid(max(rows, columns), n_targets)
    pay(rows * columns * targets)
    used = min(columns, operator.index(host(n_informative)))
    points = stream.standard_normal(size=(rows, columns))
    truth = numpy.zeros((columns, targets))
    truth[:used, :] = 100 * stream.uniform(size=(used, targets))
    values = numpy.dot(points, truth) + host(bias)
    if host(noise) > 0.0:
        values += stream.normal(scale=host(noise), size=values.shape)
    if shuffle:
        points, values = shuffled(stream, points, values)
        order = numpy.arange(columns)
        stream.shuffle(order)
        points[:, :] = points[:, order]
        truth = truth[order]
    values = numpy.squeeze(values)
    return wrap((points, values, numpy.squeeze(truth)) if coef else (points, values))


# ---------------------------------------------------------------- classes

BITS = 30  # of the corners of a cube that are drawn as one number


def _distinct(stream: Drawn, population: int, count: int) -> Any:
    """Numbers below a bound, none twice."""
    ratio = count / population
    if 0.01 < ratio < 0.99:
        return stream.permutation(population)[:count]
    if ratio >= 0.2:  # a reservoir, whose items give way to later ones
        kept = numpy.arange(count)
        for place in range(count, population):
            other = stream.randint(0, place + 1)
            if other < count:
                kept[other] = place
        return kept
    chosen: dict[int, None] = {}
    while len(chosen) < count:
        chosen.setdefault(int(stream.randint(population)))
    return numpy.array(list(chosen))


def _corners(stream: Drawn, count: int, dimensions: int) -> Any:
    """Distinct corners of a cube, as rows of zeros and ones."""
    if dimensions > BITS:
        first = stream.randint(2, size=(count, dimensions - BITS))
        return numpy.hstack([first, _corners(stream, count, BITS)])
    numbers = _distinct(stream, 2**dimensions, count).astype(">u4")
    return numpy.unpackbits(numbers.view(">u1")).reshape((-1, 32))[:, -dimensions:]


def _cluster_sizes(samples: int, clusters: int, classes: int, weights: Any) -> list[int]:
    """How many samples each cluster has."""
    if weights is None:
        shares = [1.0 / classes] * classes
    else:
        shares = list(weights)
        if len(shares) not in (classes, classes - 1):
            raise ValueError("Weights specified but incompatible with number of classes.")
        if len(shares) == classes - 1:
            shares.append(1.0 - sum(shares))
    each = clusters // classes
    sizes = [int(samples * shares[k % classes] / each) for k in range(clusters)]
    for place in range(samples - sum(sizes)):
        sizes[place % clusters] += 1
    return sizes


def _features(
    stream: Drawn, points: Any, centers: Any, sizes: list[int], redundant: int, repeated: int
) -> None:
    """The columns: informative ones in clusters, their mixtures, copies, and noise."""
    told = centers.shape[1]
    points[:, :told] = stream.standard_normal(size=(len(points), told))
    stop = 0
    for center, size in zip(centers, sizes, strict=True):
        start, stop = stop, stop + size
        cluster = points[start:stop, :told]
        cluster[...] = cluster @ (2 * stream.uniform(size=(told, told)) - 1)
        cluster += center
    known = told + redundant
    if redundant:
        mixture = 2 * stream.uniform(size=(told, redundant)) - 1
        points[:, told:known] = points[:, :told] @ mixture
    if repeated:
        copied = ((known - 1) * stream.uniform(size=repeated) + 0.5).astype(numpy.intp)
        points[:, known : known + repeated] = points[:, copied]
    noise = points.shape[1] - known - repeated
    if noise:
        points[:, -noise:] = stream.standard_normal(size=(len(points), noise))


def make_classification(
    n_samples: Any = 100, n_features: Any = 20, *, n_informative: Any = 2, n_redundant: Any = 2,
    n_repeated: Any = 0, n_classes: Any = 2, n_clusters_per_class: Any = 2, weights: Any = None,
    flip_y: Any = 0.01, class_sep: Any = 1.0, hypercube: Any = True, shift: Any = 0.0,
    scale: Any = 1.0, shuffle: Any = True, random_state: Any = None,
) -> Any:  # fmt: skip
    """Samples of several classes; two arrays, [n_samples, n_features] and [n_samples]."""
    stream = stream_of(random_state)
    samples, features = paid(n_samples, n_features)
    told, redundant, repeated = (int(host(n)) for n in (n_informative, n_redundant, n_repeated))
    classes, each = int(host(n_classes)), int(host(n_clusters_per_class))
    if told + redundant + repeated > features:
        raise ValueError(
            "Number of informative, redundant and repeated features must sum to less than the "
            "number of total features"
        )
    clusters = classes * each
    if told < numpy.log2(clusters):
        raise ValueError(
            f"n_classes({classes}) * n_clusters_per_class({each}) must be smaller or equal "
            f"2**n_informative({told})={2**told}"
        )
    paid(clusters, told)
    sizes = _cluster_sizes(samples, clusters, classes, host(weights))
    apart = host(class_sep)
    centers = _corners(stream, clusters, told).astype(float) * (2 * apart) - apart
    if not hypercube:
        centers *= stream.uniform(size=(clusters, 1))
        centers *= stream.uniform(size=(1, told))
    points = numpy.zeros((samples, features))
    _features(stream, points, centers, sizes, redundant, repeated)
    kinds = numpy.repeat(numpy.arange(clusters) % classes, sizes)
    if flip_y >= 0.0:
        flipped = stream.uniform(size=samples) < flip_y
        kinds[flipped] = stream.randint(classes, size=flipped.sum())
    moved = (2 * stream.uniform(size=features) - 1) * apart if shift is None else host(shift)
    points += moved
    points *= 1 + 100 * stream.uniform(size=features) if scale is None else host(scale)
    if shuffle:
        points, kinds = shuffled(stream, points, kinds)
        order = numpy.arange(features)
        stream.shuffle(order)
        points = points[:, order]
    return wrap((points, kinds))


MODULES: dict[str, Any] = {
    "sklearn.datasets": functions({
        "make_moons": make_moons, "make_circles": make_circles, "make_blobs": make_blobs,
        "make_regression": make_regression, "make_classification": make_classification, **LOADERS,
    }),
}  # fmt: skip
