"""The map: fitted the same everywhere, aligned, honest about itself, placing without moving."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import EncodingDriftError, MapSettings, Memory, Projection, SettingsError, Snapshot
from memory_core.map_records import Honesty
from memory_core.neighbours import nearest_several
from memory_core.projection import Layout, align, fit, measure
from memory_core.projection.fitting import neighbour_graph
from tests.strategies import unit_vectors


def clustered(size: int, *, seed: int = 0, dimension: int = 32) -> np.ndarray:
    """(size, dimension) float32 unit vectors around ten centres."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((10, dimension))
    vectors = centres[np.arange(size) % 10] + 0.5 * random.standard_normal((size, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def all_cosines(vectors: np.ndarray, others: np.ndarray) -> np.ndarray:
    wide, far = vectors.astype(np.float64), others.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1)[:, None] * np.linalg.norm(far, axis=1)
    return wide @ far.T / np.where(lengths == 0, 1, lengths)


# -- neighbours ---------------------------------------------------------------------------------


@given(
    st.integers(0, 2**32 - 1), st.integers(0, 60), st.integers(1, 60), st.integers(1, 20),
    st.sampled_from([3, 32]), st.booleans(),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_neighbours_are_those_of_all_cosines(
    seed: int, n: int, m: int, count: int, dimension: int, within: bool
) -> None:
    others = unit_vectors(seed, m, dimension).astype(np.float32)
    others[m // 2 :] = others[: m - m // 2]  # twins
    vectors = others if within else unit_vectors(seed + 1, n, dimension).astype(np.float32)
    found = nearest_several(vectors, others, count, within=within)
    cosines = all_cosines(vectors, others)
    if within:
        np.fill_diagonal(cosines, -np.inf)
    k = min(count, m - within)
    assert found.rows.shape == (len(vectors), k)
    expected = -np.sort(-cosines, axis=1)[:, :k]
    assert np.allclose(found.similarity, expected, atol=1e-12)
    assert np.allclose(np.take_along_axis(cosines, found.rows, axis=1), expected, atol=1e-12)
    assert all(len(set(row)) == k for row in found.rows.tolist())
    # Of equals the first: twins have exactly the same cosine.
    tied = np.diff(found.similarity, axis=1) == 0
    assert np.all(np.diff(found.rows, axis=1)[tied] > 0)


# -- fitting ------------------------------------------------------------------------------------


def test_the_same_in_threads_and_after_another() -> None:
    vectors, chosen = clustered(200), MapSettings(epochs=60)
    once = fit(vectors, chosen).positions
    fit(clustered(90, seed=3), MapSettings(epochs=5, seed=9))
    with ThreadPoolExecutor(3) as threads:
        again = list(threads.map(lambda _: fit(vectors, chosen).positions, range(3)))
    assert all(np.array_equal(once, other) for other in again)
    assert not np.array_equal(once, fit(vectors, MapSettings(epochs=60, seed=1)).positions)


@pytest.mark.long
def test_the_same_in_another_process_whatever_its_threads() -> None:
    code = (
        "from tests.test_projection import clustered; from memory_core import MapSettings;"
        "from memory_core.projection import fit;"
        "found = fit(clustered(700, dimension=384), MapSettings(epochs=40));"
        "print(found.positions.tobytes().hex())"
    )
    ours = fit(clustered(700, dimension=384), MapSettings(epochs=40)).positions
    for threads in ("1", "2"):
        found = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={"PYTHONPATH": ":".join(sys.path), "OPENBLAS_NUM_THREADS": threads, "PATH": ""},
        ).stdout  # fmt: skip
        assert found.strip() == ours.tobytes().hex()


@pytest.mark.long
def test_the_graph_is_the_one_that_umap_makes_of_the_same_neighbours() -> None:
    from umap.umap_ import fuzzy_simplicial_set

    vectors = clustered(400)
    vectors[7] = vectors[8]  # a neighbour at no distance
    near = nearest_several(vectors, vectors, 9, within=True)
    rows = np.concatenate([np.arange(400)[:, None], near.rows], axis=1)
    apart = np.maximum(1 - near.similarity, 0)
    distances = np.concatenate([np.zeros((400, 1)), apart], axis=1).astype(np.float32)
    theirs, _, _ = fuzzy_simplicial_set(
        vectors, 10, None, "cosine", knn_indices=rows, knn_dists=distances
    )
    assert np.allclose(neighbour_graph(near).toarray(), theirs.toarray(), atol=1e-6)


def test_what_belongs_together_lies_together() -> None:
    vectors = clustered(300)
    positions = fit(vectors, MapSettings()).positions
    away = np.linalg.norm(positions[:, None] - positions, axis=2)
    np.fill_diagonal(away, np.inf)
    nearest = away.argmin(axis=1)
    assert (nearest % 10 == np.arange(300) % 10).mean() > 0.95


@pytest.mark.parametrize(
    ("size", "method"), [(1, "single"), (2, "pca"), (3, "pca"), (14, "pca"), (15, "umap")]
)
def test_small_ones(size: int, method: str) -> None:
    vectors = clustered(size)
    found = fit(vectors, MapSettings())
    assert found.method == method
    assert found.positions.shape == (size, 2)
    assert np.isfinite(found.positions).all()
    assert np.allclose(found.positions.mean(axis=0), 0, atol=1e-6)
    assert len(np.unique(found.positions, axis=0)) == size
    honesty = measure(vectors, found.positions)
    assert 0 <= honesty.trustworthiness <= 1
    assert honesty.sentence.endswith(".")
    if method == "pca":
        # The distances between the first two components are those of the best plane.
        wide = vectors - vectors.astype(np.float64).mean(axis=0)
        spread = np.linalg.svd(wide, compute_uv=False)[:2]
        drawn = np.linalg.svd(found.positions, compute_uv=False)[: len(spread)]
        assert np.allclose(drawn[: min(size - 1, 2)], spread[: min(size - 1, 2)], atol=1e-5)


@pytest.mark.parametrize("distinct", [1, 2, 14, 15, 40])
def test_twins_lie_on_one_spot(distinct: int) -> None:
    vectors = clustered(distinct)[np.arange(120) % distinct]
    found = fit(vectors, MapSettings(epochs=30))
    assert found.method == ("single" if distinct == 1 else "pca" if distinct < 15 else "umap")
    assert np.isfinite(found.positions).all()
    assert np.array_equal(found.positions, found.positions[np.arange(120) % distinct])
    assert len(np.unique(found.positions, axis=0)) == distinct


def test_vectors_that_hardly_differ_and_a_zero_vector_are_laid_out() -> None:
    vectors = np.repeat(clustered(2), 20, axis=0)
    vectors[:, 0] += np.linspace(0, 1e-5, 40, dtype=np.float32)
    vectors[7] = 0
    assert np.isfinite(fit(vectors, MapSettings(epochs=20)).positions).all()


def test_progress_names_the_steps_and_can_stop_any_of_them() -> None:
    told: list[tuple[str, float]] = []
    vectors = clustered(100)
    fit(vectors, MapSettings(epochs=10), lambda *step: told.append(step))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    assert len({doing for doing, _ in told}) >= 12  # each round of the layout is one

    class Stopped(Exception):
        pass

    for last in range(len(told)):
        heard = 0

        def stop(doing: str, share: float) -> None:
            nonlocal heard
            heard += 1
            if heard > last:  # noqa: B023
                raise Stopped

        with pytest.raises(Stopped):
            fit(vectors, MapSettings(epochs=10), stop)
        assert heard == last + 1

    with ThreadPoolExecutor(1) as another:  # which would wait for ever for what a stop left locked
        again = another.submit(fit, vectors, MapSettings(epochs=10)).result(60).positions
    assert np.array_equal(again, fit(vectors, MapSettings(epochs=10)).positions)


@pytest.mark.parametrize(
    "wrong",
    [{"neighbours": 1}, {"neighbours": 2.5}, {"min_distance": -0.1}, {"min_distance": float("nan")},
     {"epochs": 0}, {"seed": -1}, {"seed": 2**32}, {"seed": True}],
)  # fmt: skip
def test_settings_outside_their_bounds_are_refused_by_name(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        MapSettings(**wrong)  # type: ignore[arg-type]


# -- alignment ----------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(3, 40), st.booleans(), st.floats(0.1, 9))
@settings(deadline=None)
def test_a_map_that_was_turned_mirrored_moved_and_scaled_is_recovered(
    seed: int, size: int, mirrored: bool, scale: float
) -> None:
    random = np.random.default_rng(seed)
    before = random.standard_normal((size, 2))
    angle = random.uniform(0, 2 * np.pi)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    if mirrored:
        turn = turn @ np.diag([1, -1])
    turned = scale * before @ turn + random.uniform(-9, 9, 2)
    shared = np.sort(random.permutation(size)[: max(3, size // 2)])
    found = align(turned, shared, before[shared])
    assert np.allclose(found, before, atol=1e-7)
    assert np.array_equal(found[shared], before[shared])


def test_alignment_is_the_best_turn_and_keeps_the_spread() -> None:
    random = np.random.default_rng(0)
    new, old = random.standard_normal((30, 2)), random.standard_normal((30, 2))
    found = align(new, np.arange(30), old)

    def spread(points: np.ndarray) -> float:
        return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum()))

    assert spread(found) == pytest.approx(spread(old))
    centred = (new - new.mean(axis=0)) * spread(old) / spread(new)
    errors = []
    for angle in np.linspace(0, 2 * np.pi, 721):
        for flip in (1, -1):
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            moved = centred @ turn @ np.diag([1, flip]) + old.mean(axis=0)
            errors.append(((moved - old) ** 2).sum())
    assert ((found - old) ** 2).sum() <= min(errors) + 1e-9


def test_alignment_on_nothing_one_point_and_equal_points() -> None:
    new = np.array([[1.0, 2.0], [3.0, 5.0], [0.0, 1.0]])
    assert np.array_equal(align(new, np.array([], dtype=np.int64), np.empty((0, 2))), new)
    one = align(new, np.array([1]), np.array([[7.0, 7.0]]))
    assert np.allclose(one, new - new[1] + 7)
    equal = align(new, np.array([0, 1]), np.array([[4.0, 4.0], [4.0, 4.0]]))
    assert np.isfinite(equal).all()


# -- honesty ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [5, 16, 31, 200])
def test_trustworthiness_is_scikit_learns(size: int) -> None:
    from sklearn.manifold import trustworthiness

    vectors = clustered(size)
    for seed in range(3):
        positions = np.random.default_rng(seed).standard_normal((size, 2))
        found = measure(vectors, positions)
        k = min(15, (size - 1) // 2)
        assert found.neighbours == k
        expected = trustworthiness(vectors, positions, n_neighbors=k, metric="cosine")
        assert found.trustworthiness == pytest.approx(expected, abs=1e-6)
        cosines, away = all_cosines(vectors, vectors), -np.linalg.norm(
            positions[:, None] - positions, axis=2
        )  # fmt: skip
        for close in (cosines, away):
            np.fill_diagonal(close, -np.inf)
        true, drawn = (np.argsort(-close, axis=1)[:, :k] for close in (cosines, away))
        shares = [len({*a} & {*b}) / k for a, b in zip(true.tolist(), drawn.tolist(), strict=True)]
        assert found.neighbourhood_preservation == pytest.approx(np.mean(shares))


def test_a_large_map_is_measured_on_a_sample_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_core.projection import honesty

    vectors = clustered(1_500)
    positions = fit(vectors, MapSettings(epochs=50)).positions
    whole = measure(vectors, positions)
    monkeypatch.setattr(honesty, "EXACT", 1_000)
    monkeypatch.setattr(honesty, "SAMPLE", 600)
    sample = measure(vectors, positions)
    assert (whole.measured, sample.measured, sample.size) == (1_500, 600, 1_500)
    assert sample == measure(vectors, positions)
    assert sample.trustworthiness == pytest.approx(whole.trustworthiness, abs=0.01)
    assert "600 of 1,500" in sample.sentence
    assert "measured" not in whole.sentence


def test_the_sentence_tells_what_was_counted() -> None:
    told = Honesty(0.9, 0.74, 15, 40, 300, 300).sentence
    assert "15 nearest on the map, 11 are" in told
    assert "40 nearest of 299" in told


# -- placing ------------------------------------------------------------------------------------


def layout_of(vectors: np.ndarray, positions: np.ndarray, texts: list[str]) -> Layout:
    projection = Projection(
        1, 1, "m", "umap", MapSettings(), measure(vectors, positions), "a", 0, len(texts)
    )
    return Layout(projection, texts, positions, lambda: vectors)


def snapshot_of(texts: list[str], vectors: np.ndarray) -> Snapshot:
    return Snapshot.from_memories(
        [Memory(row + 1, "tool", text, "git") for row, text in enumerate(texts)], vectors
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_placing_is_the_published_mean(seed: int, fitted: int, new: int) -> None:
    vectors = unit_vectors(seed, fitted + new, 8).astype(np.float32)
    positions = np.random.default_rng(seed).standard_normal((fitted, 2))
    layout = layout_of(vectors[:fitted], positions, [f"t{i}" for i in range(fitted)])
    placed = layout.place(vectors[fitted:])
    for row, vector in enumerate(vectors[fitted:]):
        cosines = all_cosines(vector[None], vectors[:fitted])[0]
        near = np.argsort(-cosines, kind="stable")[:3]
        weights = np.clip(cosines[near], 0, None)
        if not weights.sum():
            weights[:] = 1
        assert np.allclose(placed[row], np.average(positions[near], axis=0, weights=weights))
        assert np.array_equal(layout.place(vector)[0], placed[row])  # alone or with others


def test_the_fitted_lie_where_they_lay_and_others_are_placed_and_counted() -> None:
    vectors = clustered(40)
    texts = [f"lesson {row}" for row in range(40)]
    positions = np.random.default_rng(0).standard_normal((30, 2))
    layout = layout_of(vectors[:30], positions, texts[:30])
    few, many = snapshot_of(texts[:20], vectors[:20]), snapshot_of(texts, vectors)
    assert np.array_equal(layout.over(few).positions, positions[:20])
    assert layout.over(few).placed_count == 0
    laid = layout.over(many)
    assert np.array_equal(laid.positions[:30], positions)
    assert laid.placed.tolist() == [False] * 30 + [True] * 10
    assert np.array_equal(laid.positions[30:], layout.place(vectors[30:]))
    assert np.array_equal(laid.position_of(35), laid.positions[34])
    # In a text of its own, a vector that was fitted has its place.
    twin = snapshot_of(["other words"], vectors[3:4])
    assert np.allclose(layout.over(twin).positions[0], positions[3])
    assert len(layout.over(Snapshot.empty(32)).positions) == 0


def test_vectors_of_another_length_are_refused() -> None:
    vectors = clustered(20)
    layout = layout_of(vectors, np.zeros((20, 2)), [f"t{i}" for i in range(20)])
    with pytest.raises(EncodingDriftError, match="Fit the map again"):
        layout.over(snapshot_of(["new"], clustered(1, dimension=8)))


def test_a_hit_that_the_map_tears_away_is_told() -> None:
    vectors = clustered(60)
    texts = [f"lesson {row}" for row in range(60)]
    positions = np.stack([np.arange(60.0), np.zeros(60)], axis=1)
    laid = layout_of(vectors, positions, texts).over(snapshot_of(texts, vectors))
    query = vectors[0]
    cosines = all_cosines(query[None], vectors)[0]
    found = laid.rank_distortion((0.0, 0.0), query, [1, 51, 6])
    for hit in found:
        row = hit.id - 1
        assert hit.similarity == pytest.approx(cosines[row])
        assert hit.true_rank == 1 + np.count_nonzero(cosines > cosines[row])
        assert hit.map_rank == row + 1
    assert [hit.id for hit in found] == [1, 51, 6]
    assert [hit.is_far_off for hit in found] == [False, True, False]
