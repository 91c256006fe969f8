"""The sizes for which work is captured: each call is padded to the next of them."""

from helpers.tables import each_row
from polyvox.runtime.executors.cuda_graphs import bucket_for, buckets, finer_buckets


@each_row("most", range(1, 70))
def test_every_size_has_a_bucket_and_few_rows_of_a_finer_one_are_padding(most):
    for sizes, waste in ((buckets(most), 2.0), (finer_buckets(most), 1.5)):
        assert sizes == sorted(set(sizes))
        assert (sizes[0], sizes[-1]) == (1, most)
        for size in range(1, most + 1):
            assert size <= bucket_for(size, sizes) < waste * size + 1
