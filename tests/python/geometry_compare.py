"""Compares the depths of `crates/geometry` with those of coal (formerly hpp-fcl).

    pip install coal numpy
    cargo run --release -p hardstand-geometry --example pairs -- 10000 > pairs.txt
    python tests/python/geometry_compare.py pairs.txt

Prints for each pair of kinds the number of pairs, the number of those that overlap, and the largest
difference of the signed distance, in m: for distances against coal's `distance`, for depths against
the smallest depth that either of both finds. A depth is a smallest translation, so of two answers
that both part the shapes the smaller one is right: `worse` counts pairs for which ours is larger by
more than 1e-6 m, `coal worse` the opposite. Exit code 1 if a distance differs or a depth of ours is
worse by more than 1e-9 m, or 3e-5 m with a cylinder, for which both searches end at a tolerance.
"""

import collections
import sys

import coal
import numpy as np

LIMIT_M, ROUND_LIMIT_M = 1e-9, 3e-5


def take(words, count):
    return [float(next(words)) for _ in range(count)]


def shape(words):
    kind = next(words)
    if kind == "sphere":
        made = coal.Sphere(*take(words, 1))
    elif kind == "capsule":
        made = coal.Capsule(*take(words, 2))
    elif kind == "box":
        made = coal.Box(*take(words, 3))
    elif kind == "cylinder":
        made = coal.Cylinder(*take(words, 2))
    else:
        count = int(next(words))
        vertices = coal.StdVec_Vec3s()
        for _ in range(count):
            vertices.append(np.array(take(words, 3)))
        made = coal.Convex.convexHull(vertices, True, "Qt")
    rotation = np.array(take(words, 9)).reshape(3, 3)
    return kind, made, coal.Transform3s(rotation, np.array(take(words, 3)))


def signed_distance(a, x_a, b, x_b):
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_max_iterations = 1000
    request.gjk_tolerance = 1e-9
    request.epa_max_iterations = 1000
    request.epa_tolerance = 1e-9
    return coal.distance(a, x_a, b, x_b, request, result)


def main(path):
    rows = collections.defaultdict(lambda: [0, 0, 0.0, 0.0, 0, 0])
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = iter(line.split())
            kind_a, a, x_a = shape(words)
            kind_b, b, x_b = shape(words)
            ours = -take(words, 1)[0]
            theirs = signed_distance(a, x_a, b, x_b)
            row = rows[tuple(sorted((kind_a, kind_b)))]
            row[0] += 1
            if theirs > 0 and ours > 0:
                row[2] = max(row[2], abs(ours - theirs))
            else:
                row[1] += 1
                row[3] = max(row[3], theirs - ours)
                row[4] += ours < theirs - 1e-6
                row[5] += theirs < ours - 1e-6
    head = [("pairs", 7), ("overlap", 9), ("distance", 11), ("depth", 11)]
    head += [("worse", 7), ("coal worse", 12)]
    print(f"{'pair':22}" + "".join(f"{name:>{width}}" for name, width in head))
    for pair, (count, overlaps, distance, depth, worse, better) in sorted(rows.items()):
        name = "-".join(pair)
        print(f"{name:22}{count:7}{overlaps:9}{distance:11.1e}{depth:11.1e}{worse:7}{better:12}")
    limit = lambda pair: ROUND_LIMIT_M if "cylinder" in pair else LIMIT_M
    bad = [p for p, r in rows.items() if max(r[2], r[3]) > limit(p)]
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
