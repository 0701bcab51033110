"""The divisors of a length, in units of which there are few.

time  O(√n) at worst, far less for durations, whose prime factors are small

Callers count in the common unit of all windows (`windows.common_unit`): a day has 96 divisors in
seconds but 504 in microseconds, most of them useless.
"""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=4096)
def divisors(number: int) -> tuple[int, ...]:
    """All divisors, smallest first.

    >>> divisors(12)
    (1, 2, 3, 4, 6, 12)
    """
    found = [1]
    rest, prime = number, 2
    while rest > 1:
        if prime * prime > rest:
            prime = rest
        power, multiples = 1, list(found)
        while rest % prime == 0:
            rest //= prime
            power *= prime
            found += [d * power for d in multiples]
        prime += 1
    return tuple(sorted(found))


def divisors_between(multiple: int, number: int) -> list[int]:
    """The divisors of the number that are multiples of `multiple`, smallest first.

    >>> divisors_between(10, 60)
    [10, 20, 30, 60]
    >>> divisors_between(7, 60)
    []
    """
    return [] if number % multiple else [multiple * d for d in divisors(number // multiple)]
