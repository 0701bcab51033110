"""The divisors of a length, in units of which there are few.

time  O(LARGEST) at worst, far less for durations, whose prime factors are small

Callers count in the common unit of all windows (`windows.common_unit`): a day has 96 divisors in
seconds but 504 in microseconds, most of them useless.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import isqrt

LARGEST = 20_000
"""Prime factors up to here are told apart; beyond, what is left counts as one factor.

Numbers up to its square are factored wholly. Longer ones are factored as far as lengths that people
write go: no search for a good slide is helped by a prime number of microseconds above this.
"""


@lru_cache(maxsize=4096)
def divisors(number: int) -> tuple[int, ...]:
    """All divisors (of primes up to `LARGEST` and what is left), smallest first.

    >>> divisors(12)
    (1, 2, 3, 4, 6, 12)
    """
    found, rest = [1], number
    for prime in _primes():
        if prime * prime > rest:
            break
        power, multiples = 1, list(found)
        while rest % prime == 0:
            rest //= prime
            power *= prime
            found += [d * power for d in multiples]
    if rest > 1:
        found += [d * rest for d in found]
    return tuple(sorted(found))


def trials(number: int) -> int:
    """Steps to find the divisors of a number.

    >>> trials(86_400), trials(10**15)
    (7, 205)
    """
    return 5 + min(isqrt(number), LARGEST) // 100


@cache
def _primes() -> tuple[int, ...]:
    composite = {m for n in range(2, isqrt(LARGEST) + 1) for m in range(n * n, LARGEST + 1, n)}
    return tuple(n for n in range(2, LARGEST + 1) if n not in composite)


def divisors_between(multiple: int, number: int) -> list[int]:
    """The divisors of the number that are multiples of `multiple`, smallest first.

    >>> divisors_between(10, 60)
    [10, 20, 30, 60]
    >>> divisors_between(7, 60)
    []
    """
    return [] if number % multiple else [multiple * d for d in divisors(number // multiple)]
