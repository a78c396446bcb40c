"""UMAP's layout: tied points attract each other, random ones repel (McInnes et al. 2018, 3.2).

    closeness on the map    1 / (1 + a·d²ᵇ)
    attraction              −2ab·d²⁽ᵇ⁻¹⁾ / (1 + a·d²ᵇ)
    repulsion                2b / ((0.001 + d²)(1 + a·d²ᵇ))

as umap-learn does it, but that both are read from tables by d² to within half a percent, which
takes a quarter of the time, and that steps are half as long, which makes up for the start from
principal components. One thread, one generator of random numbers: the same start, ties and seed
give the same map.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core.projection.graph import Ties

STEP = 0.5
REPELLED = 5
"""Random points that each drawn tie's head is pushed from."""
LONGEST = 4.0
"""A single push or pull, before it is scaled by the step."""


def lay_out(
    ties: Ties,
    start: NDArray[np.float64],
    *,
    epochs: int,
    min_distance: float,
    seed: int,
    report: Callable[[int], None] = lambda epoch: None,
) -> NDArray[np.float64]:
    """(n, 2) positions from a start (n, 2). `report` hears of each epoch; what it raises ends it.

    The stronger a tie, the more often it is drawn: the strongest once in each epoch.
    """
    attraction, repulsion = _forces(min_distance)
    epoch = _compiled()
    drawn = ties.weight >= ties.weight.max() / epochs
    head, tail = ties.head[drawn], ties.tail[drawn]
    every = ties.weight.max() / ties.weight[drawn]
    due, pushed = every.copy(), every / REPELLED
    flat = start.astype(np.float32)
    state = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
    for number in range(epochs):
        report(number)
        # The first two steps are equally long, as umap-learn's are.
        step = np.float32(STEP * (1.0 - max(number - 1, 0) / epochs))
        epoch(flat, head, tail, every, due, pushed, number, step, attraction, repulsion, state)
    return flat.astype(np.float64)


@cache
def curve(min_distance: float) -> tuple[float, float]:
    """a and b: closeness is 1 up to the least distance, and falls exponentially beyond it."""
    from scipy.optimize import curve_fit

    apart = np.linspace(0, 3, 300)
    wanted = np.where(apart < min_distance, 1.0, np.exp(-(apart - min_distance)))
    (a, b), _ = curve_fit(lambda d, a, b: 1 / (1 + a * d ** (2 * b)), apart, wanted)
    return float(a), float(b)


def _forces(min_distance: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Attraction and repulsion by the first 16 bits of d² as a float32: 128 steps to an octave."""
    a, b = curve(min_distance)
    first_bits = np.arange(2**15, dtype=np.int64)
    first_bits = np.minimum(first_bits, 0x7F7F)  # beyond are infinity and what is no number
    middle = ((first_bits << 16) + 2**15).astype(np.int32)
    squared = middle.view(np.float32).astype(np.float64)
    power = squared**b
    attraction = -2 * a * b * power / squared / (1 + a * power)
    repulsion = 2 * b / ((0.001 + squared) * (1 + a * power))
    return attraction.astype(np.float32), repulsion.astype(np.float32)


@cache
def _compiled() -> Any:
    """The loop over an epoch's ties, compiled at its first use in a process."""
    import numba

    # No fast-math, no threads: sums come out the same everywhere. Other threads run meanwhile.
    return numba.njit(_epoch, nogil=True)


def _epoch(
    flat: Any, head: Any, tail: Any, every: Any, due: Any, pushed: Any, number: Any, step: Any,
    attraction: Any, repulsion: Any, state: Any,
) -> None:  # fmt: skip
    """Move `flat` by one epoch. `due` and `pushed` say when each tie is drawn and repels next."""
    size = np.uint64(flat.shape[0])
    bits = state[0]
    longest = np.float32(LONGEST) * step
    for i in range(len(head)):
        if due[i] > number:
            continue
        due[i] += every[i]
        own, other = head[i], tail[i]
        x, y = flat[own, 0], flat[own, 1]
        dx, dy = x - flat[other, 0], y - flat[other, 1]
        squared = dx * dx + dy * dy
        if squared > 0:
            force = attraction[np.float32(squared).view(np.int32) >> 16] * step
            mx = min(max(force * dx, -longest), longest)
            my = min(max(force * dy, -longest), longest)
            x += mx
            y += my
            flat[other, 0] -= mx
            flat[other, 1] -= my
        between = every[i] / REPELLED
        count = int((number - pushed[i]) / between)
        pushed[i] += count * between
        for _ in range(count):
            bits ^= bits << np.uint64(13)
            bits ^= bits >> np.uint64(7)
            bits ^= bits << np.uint64(17)
            far = np.int64(((bits >> np.uint64(32)) * size) >> np.uint64(32))
            if far == own:
                continue
            dx, dy = x - flat[far, 0], y - flat[far, 1]
            squared = dx * dx + dy * dy
            if squared > 0:
                force = repulsion[np.float32(squared).view(np.int32) >> 16] * step
                x += min(max(force * dx, -longest), longest)
                y += min(max(force * dy, -longest), longest)
        flat[own, 0], flat[own, 1] = x, y
    state[0] = bits
