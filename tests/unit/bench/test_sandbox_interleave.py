from kebab.bench.sandbox import Candidate, Outcome, build_repeated_candidate, run_interleaved


def quiet(turn, turns):
    """Report nothing."""


class Track:
    """Runs nothing; remembers the order and answers from a script."""

    def __init__(self, **outcomes):
        self.order = []
        self._outcomes = outcomes

    def __call__(self, command):
        name = command[0]
        self.order.append(name)
        outcomes = self._outcomes.get(name)
        return outcomes.pop(0) if outcomes else Outcome(status=0, seconds=1.0)


def test_candidates_run_in_turns_in_alternating_order_after_a_warm_up():
    track = Track()

    samples = run_interleaved(
        [build_repeated_candidate("a", ["a"]), build_repeated_candidate("b", ["b"])],
        2,
        track,
        quiet,
    )

    assert track.order == [*"ba", *"ab", *"ba"]
    assert samples["a"].values == [1.0, 1.0]


def test_the_warm_up_is_not_counted():
    times = [Outcome(status=0, seconds=number) for number in (9.0, 1.0, 2.0)]

    samples = run_interleaved([build_repeated_candidate("a", ["a"])], 2, Track(a=times), quiet)

    assert samples["a"].values == [1.0, 2.0]


def test_each_turn_has_its_own_command():
    track = Track()

    run_interleaved([Candidate(name="a", build_command=lambda turn: [f"a{turn}"])], 2, track, quiet)

    assert track.order == ["a0", "a1", "a2"]


def test_a_candidate_that_fails_has_no_values_and_does_not_run_again():
    bad = [Outcome(status=0, seconds=1.0)] * 2 + [Outcome(status=2, seconds=0.1, err=b"no disk\n")]
    track = Track(a=bad)

    samples = run_interleaved(
        [build_repeated_candidate("a", ["a"]), build_repeated_candidate("b", ["b"])],
        4,
        track,
        quiet,
    )

    assert samples["a"].values == []
    assert samples["a"].fault == "exit status 2: no disk"
    assert track.order.count("a") == 3
    assert len(samples["b"].values) == 4


def test_every_turn_is_reported():
    turns_reported = []

    run_interleaved(
        [build_repeated_candidate("a", ["a"])],
        2,
        Track(),
        lambda turn, turns: turns_reported.append((turn, turns)),
    )

    assert turns_reported == [(0, 2), (1, 2), (2, 2)]
