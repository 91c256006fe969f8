from polyvox.models.cosyvoice.silence import SilentRun


def thinned(tokens):
    run, kept = SilentRun(), []
    for token in tokens:
        run = run.after(token)
        kept += [] if run.too_long else [token]
    return kept


def test_the_sixth_of_a_silent_run_and_all_after_it_are_left_out():
    tokens = [5, 1, 1, 2, 28, 29, 55, 248, 1, 9, 1, 1, 1, 1, 1, 1, 7, 2, 2, 2, 2, 2, 28, 28, 3]
    assert thinned(tokens) == [5, 1, 1, 2, 28, 29, 9, 1, 1, 1, 1, 1, 7, 2, 2, 2, 2, 2, 3]
