"""
Writes scipy.json, the values that the tests compare with:

    python3 -m venv venv && venv/bin/pip install numpy==2.4.6 scipy==1.17.1
    venv/bin/python by-scipy.py && npx biome format --write scipy.json

Where SciPy has no exact p, with ties, all divisions into two arms are counted here with whole numbers of any size.
"""

import json
from fractions import Fraction
from itertools import combinations, product
from math import comb
from pathlib import Path

import numpy as np
import scipy
from scipy import special, stats

rng = np.random.default_rng(20240607)


def exact_rank_sum(x, y):
    """The share of the choices of len(y) values whose rank sum is as far from the expected one."""
    n, m = len(x), len(y)
    ranks = [int(r) for r in 2 * stats.rankdata(np.concatenate([x, y]))]
    if comb(n + m, m) <= 20_000:
        sums = [sum(some) for some in combinations(ranks, m)]
    else:
        ways = [{0: 1}] + [{} for _ in range(m)]
        for rank in ranks:
            for size in range(m, 0, -1):
                for total, count in ways[size - 1].items():
                    ways[size][total + rank] = ways[size].get(total + rank, 0) + count
        sums = ways[m]
    counts = sums if isinstance(sums, dict) else {s: sums.count(s) for s in set(sums)}
    expected = Fraction(m * sum(ranks), n + m)
    least = abs(sum(ranks[n:]) - expected)
    far = sum(count for total, count in counts.items() if abs(total - expected) >= least)
    return float(Fraction(far, sum(counts.values())))


def exact_signed_rank(d):
    """The share of the choices of signs whose sum of positive ranks is as far from the middle."""
    d = d[d != 0]
    ranks = [int(r) for r in 2 * stats.rankdata(abs(d))]
    if len(ranks) <= 12:
        sums = [sum(r for r, sign in zip(ranks, signs) if sign) for signs in product([0, 1], repeat=len(ranks))]
        counts = {s: sums.count(s) for s in set(sums)}
    else:
        counts = {0: 1}
        for rank in ranks:
            with_rank = {total + rank: count for total, count in counts.items()}
            counts = {t: counts.get(t, 0) + with_rank.get(t, 0) for t in counts.keys() | with_rank.keys()}
    middle = Fraction(sum(ranks), 2)
    least = abs(sum(r for r, each in zip(ranks, d) if each > 0) - middle)
    far = sum(count for total, count in counts.items() if abs(total - middle) >= least)
    return float(Fraction(far, sum(counts.values())))


def has_ties(values):
    return len(np.unique(values)) < len(values)


def two_samples(name, x, y):
    x, y = np.asarray(x, float), np.asarray(y, float)
    n, m = len(x), len(y)
    is_tied = has_ties(np.concatenate([x, y]))
    method = "exact" if n * m <= 2500 else "normal"
    u = stats.mannwhitneyu(y, x).statistic
    if method == "normal":
        p = stats.mannwhitneyu(y, x, method="asymptotic", use_continuity=True).pvalue
    elif is_tied:
        p = exact_rank_sum(x, y)
    else:
        p = stats.mannwhitneyu(y, x, method="exact").pvalue
        assert comb(n + m, m) > 20_000 or abs(p - exact_rank_sum(x, y)) < 1e-12
    return dict(name=name, control=list(x), treatment=list(y), u=u, p=p, method=method)


def in_pairs(name, x, y):
    x, y = np.asarray(x, float), np.asarray(y, float)
    d = y - x
    rest = d[d != 0]
    method = "exact" if len(rest) <= 100 else "normal"
    w = stats.rankdata(abs(rest))[rest > 0].sum()
    if method == "normal":
        p = stats.wilcoxon(d, correction=True, method="approx").pvalue
    elif has_ties(abs(rest)):
        p = exact_signed_rank(d)
    else:
        p = stats.wilcoxon(rest, method="exact").pvalue
        assert len(rest) > 12 or abs(p - exact_signed_rank(d)) < 1e-12
    return dict(name=name, control=list(x), treatment=list(y), w=w, p=p, method=method)


def spread(name, values):
    v = np.asarray(values, float)
    shares = [0, 0.01, 0.25, 0.4, 0.5, 0.75, 0.99, 1]
    return dict(
        name=name,
        values=list(v),
        mean=v.mean(),
        median=np.median(v),
        quantiles=[[share, np.quantile(v, share, method="linear")] for share in shares],
        iqr=stats.iqr(v),
        mad=stats.median_abs_deviation(v),
        deviation=np.std(v, ddof=1) if len(v) > 1 else None,
        variation=v.std(ddof=1) / abs(v.mean()) if len(v) > 1 else None,
    )


def density(name, values):
    v = np.asarray(values, float)
    curve = stats.gaussian_kde(v, bw_method="scott")
    scott = curve.factor * v.std(ddof=1)
    x = np.linspace(v.min() - 3 * scott, v.max() + 3 * scott, 33)
    found = dict(scott=scott, x=list(x), density=list(curve(x)), **cross_validated(v, scott))
    return dict(name=name, values=list(v), **found)


def cross_validated(values, scott, seed=11):
    random = random_from(seed)
    mixed = np.sort(values)
    for last in range(len(mixed) - 1, 0, -1):
        other = int(random() * (last + 1))
        mixed[[last, other]] = mixed[[other, last]]
    fold = np.arange(len(mixed)) % min(5, len(mixed))
    likelihoods = {}
    for factor in [2 ** (i / 4 - 3) for i in range(21)]:
        likelihoods[factor] = 0
        for each in np.unique(fold):
            others = mixed[fold != each]
            gaussians = stats.norm.logpdf(mixed[fold == each], others[:, None], factor * scott)
            likelihoods[factor] += (special.logsumexp(gaussians, axis=0) - np.log(len(others))).sum()
    return dict(seed=seed, crossValidated=max(likelihoods, key=likelihoods.get) * scott)


def random_from(seed):
    """As packages/lab/stats/random.js, so that SciPy gets the same draws."""
    state = seed

    def multiplied(value, factor):
        return (value * factor) & 0xFFFFFFFF

    def random():
        nonlocal state
        state = (state + 0x9E3779B9) & 0xFFFFFFFF
        mixed = multiplied(state ^ (state >> 16), 0x21F0AAAD)
        mixed = multiplied(mixed ^ (mixed >> 15), 0x735A2D97)
        return (mixed ^ (mixed >> 15)) / 2**32

    return random


def rounded(values, digits=4):
    return np.round(values, digits)


def skewed(n, scale=1.0):
    return rounded(scale * rng.lognormal(0, 0.8, n))


def normal(n, mean=0.0, deviation=1.0):
    return rounded(rng.normal(mean, deviation, n))


def whole(n, below):
    return rng.integers(0, below, n)


two_sample_cases = [
    two_samples("one each", [1], [2]),
    two_samples("two each", [1, 2], [3, 4]),
    two_samples("two and three", normal(2), normal(3)),
    two_samples("three each, apart", [1, 2, 3], [4, 5, 6]),
    two_samples("five each", normal(5), normal(5, 0.8)),
    two_samples("eight and eleven", normal(8), normal(11, 0.5)),
    two_samples("skewed 12 and 9", skewed(12), skewed(9, 1.7)),
    two_samples("20 each", normal(20), normal(20, 0.6)),
    two_samples("50 each", skewed(50), skewed(50, 1.2)),
    two_samples("3 and 60", skewed(3, 3), skewed(60)),
    two_samples("60 each", normal(60), normal(60, 0.4)),
    two_samples("60 each, apart", normal(60), normal(60, 3)),
    two_samples("tied: three each", [1, 2, 2], [2, 3, 3]),
    two_samples("tied: five and eight", whole(5, 4), whole(8, 5)),
    two_samples("tied: two and seven, not symmetric", [0, 0], [0, 0, 1, 1, 1, 2, 3]),
    two_samples("tied: 9 each", whole(9, 6), whole(9, 8)),
    two_samples("tied: 25 and 18", whole(25, 10), whole(18, 13)),
    two_samples("tied: 50 each", whole(50, 20), whole(50, 24)),
    two_samples("tied: 60 each", whole(60, 9), whole(60, 10)),
    two_samples("constant against another", [1, 1, 1, 1], [2, 2, 2, 2]),
    two_samples("constant against values", [2, 2, 2, 2, 2], [1, 2, 3, 4, 5, 6]),
]

base = skewed(60, 10)
pair_cases = [
    in_pairs("one", [1], [2]),
    in_pairs("two", [1, 2], [3, 1]),
    in_pairs("five, all greater", base[:5], base[:5] + [1, 2, 3, 4, 5]),
    in_pairs("ten", base[:10], rounded(base[:10] * 1.1 + normal(10))),
    in_pairs("25", base[:25], rounded(base[:25] + normal(25, 0.3))),
    in_pairs("60", base, rounded(base + normal(60, 0.3))),
    in_pairs("tied: eight", whole(8, 5), whole(8, 7)),
    in_pairs("tied: 12", whole(12, 3), whole(12, 9)),
    in_pairs("tied: 40", whole(40, 8), whole(40, 10)),
    in_pairs("150", skewed(150), skewed(150, 1.2)),
    in_pairs("tied: 200", whole(200, 8), whole(200, 9)),
]

samples = {
    "one": [3.5],
    "two": [1.5, -2.25],
    "three": [10, 30, 20],
    "skewed 17": skewed(17, 100),
    "normal 60": normal(60, 50, 4),
    "tied 30": whole(30, 6),
    "two peaks": np.concatenate([normal(25, 0), normal(25, 10)]),
}

z = [-37, -30, -20, -10, -8, -6, -5, -4, -3.3, -2.5, -2.0000001, -2, -1.96, -1, -0.5, -1e-3, -1e-9]
shares = [1e-300, 1e-100, 1e-20, 1e-10, 1e-5, 0.001, 0.005, 0.02425, 0.025, 0.05, 0.1, 0.25, 0.4, 0.4999999, 0.5]

result = dict(
    made=f"NumPy {np.__version__}, SciPy {scipy.__version__}",
    cdf=[[each, stats.norm.cdf(each)] for each in z + [0] + [-each for each in z]],
    quantile=[[each, stats.norm.ppf(each)] for each in shares + [1 - each for each in shares[3:]]],
    rankSum=two_sample_cases,
    signedRank=pair_cases,
    spread=[spread(name, values) for name, values in samples.items()],
    kde=[density(name, samples[name]) for name in ["two", "three", "skewed 17", "normal 60", "two peaks"]],
)


def plain(value):
    return value.item() if isinstance(value, np.generic) else list(value)


Path(__file__).with_name("scipy.json").write_text(json.dumps(result, default=plain, indent=2, allow_nan=False) + "\n")
