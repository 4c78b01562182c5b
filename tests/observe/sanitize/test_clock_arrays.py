"""Numbers of sets of lanes in the records of accesses."""

import itertools

from warploom.observe.sanitize.clock_arrays import LANE_SETS, OBJECT, TOGETHER, UNION

SETS = [int(each) for each in LANE_SETS]
NUMBERS = [number for number in range(64) if number not in (TOGETHER, OBJECT)]


def test_union_is_the_smallest_set_that_contains_both() -> None:
    for one, other in itertools.product(range(64), repeat=2):
        both = SETS[one] | SETS[other]
        covering = [SETS[number].bit_count() for number in NUMBERS if both & ~SETS[number] == 0]
        found = int(UNION[one, other])
        assert found in NUMBERS
        assert both & ~SETS[found] == 0
        assert SETS[found].bit_count() == min(covering)


def test_lanes_of_an_aligned_tile_have_the_number_of_the_tile() -> None:
    for size in (4, 8, 16, 32):
        for first in range(0, 32, size):
            number = first
            for lane in range(first, first + size):
                number = int(UNION[number, lane])
            assert SETS[number] == (1 << size) - 1 << first
