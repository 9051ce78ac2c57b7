"""Numerics: up to how many elements a result gets PyTorch's last bits, why, and what that costs.

People read numbers one by one, and compare them with what PyTorch printed; no one reads ten
thousand of them. So each rule holds up to a size, and larger arrays take NumPy's way. A cost is
processor time at the bound, in the worst shape that was found, beside NumPy's way.

Switches inside PyTorch's own kernels (where its sort inserts, where its products are packed) are
no thresholds of ours: they stand with the code that repeats the kernel.
"""

from __future__ import annotations

from ..engine.schema.carriers import FUSED, NOTICED, SMALL, UPDATED

__all__ = [
    "ANGLES", "BATCH", "CIRCULAR", "DOTS", "FILLED", "FUSED", "GROUPED", "HEADS", "IN_LANES",
    "LAYER", "LOGS", "NORMALISED", "NOTICED", "ONE_BY_ONE", "PACKED", "PIECE", "PRODUCTS",
    "RESAMPLED", "ROUNDED", "SCORES", "SIDE_BY_SIDE", "SMALL", "SOFTMAX", "SUMMED", "SYSTEM",
    "TIED", "TURNS", "UPDATED", "VECTORS",
]  # fmt: skip

PIECE = 1 << 14  # numbers whose steps all stay in the processor's cache; no bound of a rule

# SMALL = 32, elements (rounding.py, and the engine's lanes). PyTorch calls the C library for fewer
# than 32 numbers and vector code for more. NumPy's singles differ from both in one value of five;
# rounding once from double agrees in 99 of 100. Cost: 4 µs for exp, 0.8 without.

# The same for larger arrays. PyTorch's
# vector code rounds nearly as if once: 99 in 100 exp and expm1, 999 in 1,000 tanh; NumPy's singles
# agree in 60 to 90 of 100. Cost: 3 µs for tanh of 2,048, 1 without; 20 for sigmoid, 2 without.
ROUNDED = 1 << 13

# sin, cos and tan, as the points of a curve that is learned. NumPy's singles agree in 81 to 87 of
# 100. Cost: 21 µs for sin of 2,000, 1 without; 6 for 64, 2 for one number, 0.2 without.
CIRCULAR = 1 << 12
# Up to so many sin and cos are computed in double and rounded once, as 95 in 100 are in PyTorch: in
# a graph of small tensors the vector code's twenty calls of NumPy would be half of the time. Cost:
# 0.9 µs for 64, 0.3 without.
ANGLES = 1 << 6

# Elements of binary_cross_entropy, for which PyTorch asks the C library (c_library.py): a loss of
# few numbers, printed with all digits. Cost: 64 µs for 64, 210 for 2,048, 25 and 47 without.
LOGS = 1 << 11

# FUSED = 131,072, numbers that are multiplied and added to in one rounding (rounding.py, and the
# engine's changes in place: steps of an optimiser). Weights are updated a thousand times, and each
# last digit stays. Cost: 80 µs, 20 without. Square roots
# (roots.py), by which Adam divides: 14 µs for 100, 500 at the bound; 1 and 25 without.

# UPDATED = 524,288, the same of weights to which gradients times a number are added in place: the
# steps of SGD, for the layers of a first network of pictures. Cost: as without, 0.7 ms at the
# bound.

# NOTICED = 262,144, elements (`reduce_to` in the engine). The gradient of an operand that was
# spread over others is a sum, of a bias or of a number that scales all data, and weights are
# updated by it a thousand times. Cost: 6 to 12 µs (2,000 numbers, 256 by 32), 1 to 5 without.

# Elements (summation.py). A loss is a sum, printed with all its digits, and so is the gradient of a
# layer's bias over a batch. Cost: 13 µs for 8,192, 2 without; 60 at the bound in one sum, 45
# without; 110 in 512 lines, 50 without; in columns nothing.
SUMMED = 1 << 18

# Singles of the kernels for rows (summation.py: softmax, norms), which add in lanes, and losses of
# one batch (nll_loss), which are added on levels. Cost: 24 µs, 4 without.
IN_LANES = 1 << 17

# Numbers of one sum (summation.py: pooling). PyTorch adds them one after another however many they
# are; each is a turn of a loop here.
ONE_BY_ONE = 64

# Rows whose products are added up (summation.py), where NumPy's library does not add in turn: each
# is a turn of a loop. What a layer before a batch norm gets is zero but for these roundings,
# and Adam makes steps of them. Cost: 118 µs for 64 rows, 4 without.
BATCH = 256

# Products in batches of matrices (small_matmul.py). PyTorch's library adds those of small operands
# in orders that depend on how they lie in memory. Cost: 2 µs for two matrices of 16 by 16, 20 to 55
# for 64 by 8 times 8 by 8; 1 without.
PRODUCTS = 4096
# Up to so many where all matrices are added as the rows of one would be, as the heads of attention
# are. Cost: 65 µs for 16 times 16 by 16 by 8, 155 at the bound; 30 without.
SIDE_BY_SIDE = 1 << 17

# The same of two matrices, as in the last layer of most networks; half of them with a vector, and
# where the result is one. Cost: 28 to 37 µs for 64 by 64 times 64 by 10, 2 without; 220 to 480 for
# 64 by 784 times 784 by 10, 17 without; 40 for 1 by 500 times 500 by 128, 3 without.
LAYER = 1 << 19

# Products of few rows with the rows of a layer (fused_matmul.py), which Intel's routines add in
# lanes. Cost: 3 ms at the bound.
DOTS = 1 << 18

# Numbers of a matrix that are laid between zeros (fused_matmul.py): 64 MB. Beyond, a copy would be
# too much beside the limit of memory.
FILLED = 1 << 24

# Products of two vectors (small_matmul.py). Cost: 12 µs at the bound, 2 without.
VECTORS = 1 << 14

# Products of two matrices of singles (packed_matmul.py). PyTorch's library adds them one after
# another, and so does NumPy's inside of what it is given. Cost: 1.7 µs for 4 by 8 times 8 by 16,
# 0.7 without, with AVX2 3.3; 77 µs for 64 by 784 times 784 by 128, 65 without; 1.2 ms for 512 by
# 512 times 512 by 512, 1.1 without.
PACKED = 1 << 27

# Elements of windows (convolution_direct.py). The gradient of a convolution's input is then a
# convolution itself, whose last digits are PyTorch's. Beyond, few channels that come from many are
# scattered as products of their own. Cost: as without up to 2 ms; beyond, three times as long.
WINDOWS = 1 << 20

# Elements of windows that lie a place apart, of a convolution in groups (convolution_groups.py).
# Cost: at most twice the time without, 5 ms at half of the bound.
GROUPED = 1 << 22
# Groups of several channels, and examples (convolution_gemm.py), of which each is a turn of a loop.
# Cost: 60 µs each.
TURNS = 64

# No rule: the products of an LSTM (recurrent_fused.py) are added in the order of NumPy's library,
# and over all its steps at once. PyTorch has oneDNN multiply there; four outputs of five differ
# from it in last digits, with the rule above as without. Cost of the rule: 2.9 ms for 50 steps of
# 16 by 64.

# Scores of attention over heads (attention.py), and products of blocks of rows, of which each is a
# turn of a loop: small models of letters then learn with the same losses. Cost: 0.5 ms for four
# batches of four heads of 16 by 16, forward and back, 1.1 for heads of 16 by 8; 0.1 without.
SCORES, HEADS = 1 << 14, 32

# Weighted numbers of a picture that is resampled (resampling_singles.py), so that networks that
# shrink and grow pictures learn with the same losses. Cost: 0.4 ms back for 16 pictures of 16 by 16
# to 32 by 32, 1.7 for three of 64 by 64; 0.1 and 0.3 without.
RESAMPLED = 1 << 18

# Elements of a softmax along its last dimension (softmax.py), whose exponentials are worked out as
# PyTorch's vectors do: the gradient of most classifiers, and of language models by letters. Cost:
# 15 µs for 64 by 10, 22 for 256 by 10, 1 without; 0.2 ms for 316 by 44, 0.1 without.
SOFTMAX = 1 << 16

# Elements that are normalised in rows (moments.py, normalization.py). The losses of all networks
# with such a layer hang on them, and where a gradient is zero in exact arithmetic, the roundings of
# this order are what is printed. Cost of the moments: 0.1 ms for 2,560, 0.15 at the bound, 0.3 in
# groups of many numbers; 0.03 without.
NORMALISED = 1 << 13

# Rows of a linear system (small_systems.py): inverses are printed, and multiplied with what they
# are the inverse of. Cost: 220 µs for 8 by 8 (elimination not counted), 6 without.
SYSTEM = 8

# Elements of lines that hold equals (tie_order.py). Which of them comes first, the moves of C++'s
# sort decide, and an index is no last bit: it is right or wrong. Cost: 0.4 s, 4 ms without.
TIED = 1 << 18
