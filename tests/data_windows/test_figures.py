"""The windows of the Cutty paper's figures, by their numbers (Figure 1 is in test_evaluation)."""

from collections.abc import Iterable, Mapping

import muntin as mt
from muntin.data_windows import Aggregator, Discretizer
from muntin.data_windows.window_functions import CountFunction, function_of
from muntin.model.data_windows import DataWindow
from muntin.model.windows import Window
from muntin_testing.monoids import Concat


class Watched(Aggregator):
    """Notes every slice that it closes."""

    def __init__(self, cut: str = "begins") -> None:
        super().__init__(Concat(), "eager", cut)
        self.slices: list[str] = []

    def _close(self) -> None:
        self.slices.append(str(self._partial))
        super()._close()


def play(
    aggregator: Watched, begins: Mapping[int, Iterable[str]], stops: dict[str, int]
) -> list[str]:
    """What each window gives that ends before a record, over records 1 to 9."""
    numbers = {name: n for n, name in enumerate(stops)}
    found = []
    for record in range(1, 10):
        ended = [name for name, stop in stops.items() if stop == record]
        texts = aggregator.end(numbers[name] for name in ended)
        found += [f"{name} {text}" for name, text in zip(ended, texts, strict=True)]
        aggregator.begin(numbers[name] for name in begins.get(record, ()))
        aggregator.fold(str(record))
    return found


def test_figure_4_slices_are_cut_where_windows_begin() -> None:
    """Windows s[1,5], s[1,6] and s[3,8], others from 6 and from 8: P(s[1,2]), P(s[3,5]), …"""
    aggregator = Watched()
    begins = {1: ["s[1,5]", "s[1,6]"], 3: ["s[3,8]"], 6: ["from 6"], 8: ["from 8"]}
    stops = {"s[1,5]": 6, "s[1,6]": 7, "s[3,8]": 9, "from 6": 99, "from 8": 99}
    found = play(aggregator, begins, stops)
    assert aggregator.slices == ["12", "345", "67"]  # P(s[8,8]) is still open when s9 comes
    assert found == ["s[1,5] 12345", "s[1,6] 123456", "s[3,8] 345678"]


def test_figure_5_two_functions_as_one_marked_stream() -> None:
    """Range 4 by 2 above, range 5 by 3 below; window 1 ends with record 3, told with record 4."""
    discretizer = Discretizer([CountFunction(4, 2), CountFunction(5, 3)])
    said = {}
    for record in range(9):
        ended, begun = discretizer.record(record, {})
        said[record] = (sorted(e.number + 1 for e in ended), [b.number + 1 for b in begun])
    assert said == {
        0: ([], [1, 2]),
        1: ([], []),
        2: ([], [3]),
        3: ([], [4]),
        4: ([1], [5]),
        5: ([2], []),
        6: ([3], [6, 7]),
        7: ([], []),
        8: ([4, 5], [8]),
    }


def test_figure_6_time_and_distance_cut_one_set_of_slices() -> None:
    """Every 6 seconds the last 10, every 5 km the last 10: begins of either are cuts of both."""
    windows: list[DataWindow | Window] = [mt.Window(10, 6), mt.hopping_by("km", 10, 5)]
    way = [(0, 0), (2, 1), (4, 3), (6, 5), (8, 8), (10, 11), (12, 13), (15, 16), (18, 17), (20, 21)]
    discretizer, aggregator = Discretizer([function_of(w) for w in windows]), Watched()
    found, cuts = [], []
    for seconds, km in way:
        ended, begun = discretizer.record(seconds, {"km": km})
        texts = aggregator.end(e.number for e in ended)
        found += [(e.function, text) for e, text in zip(ended, texts, strict=True)]
        aggregator.begin(b.number for b in begun)
        cuts += [(seconds, km)] if begun else []
        aggregator.fold(f"<{seconds}>")
    assert cuts == [(0, 0), (6, 5), (10, 11), (12, 13), (15, 16), (18, 17), (20, 21)]
    by_time = ["<0><2>", "<0><2><4><6><8>", "<6><8><10><12><15>"]
    by_distance = ["<0><2><4><6><8>", "<6><8><10><12>", "<10><12><15><18>"]
    assert [text for function, text in found if function == 0] == by_time
    assert [text for function, text in found if function == 1][-3:] == by_distance


def test_figure_7_slices_of_range_10_by_3() -> None:
    """Cutty cuts 3 long, Pairs 1 and 2, panes of gcd(10, 3) = 1 at every record (RA)."""
    lengths = {}
    for cut in ("begins", "edges", "records"):
        discretizer, aggregator = Discretizer([CountFunction(10, 3)]), Watched(cut)
        for record in range(25):
            ended, begun = discretizer.record(record, {})
            aggregator.end([e.number for e in ended])
            aggregator.begin([b.number for b in begun])
            aggregator.fold("x")
        lengths[cut] = [len(each) for each in aggregator.slices]
    assert lengths["begins"] == [3] * 8
    assert lengths["edges"] == [3, 3, 3, *[1, 2] * 5]
    assert lengths["records"] == [1] * 25
