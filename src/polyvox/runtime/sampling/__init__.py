"""Sampling on the device: tokens by parameters and random numbers of each sequence, and its kernels."""
