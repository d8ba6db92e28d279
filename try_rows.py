"""On a GPU: are rows of convolutions and their sums right, and which tiles are fast?

    PYTHONPATH=src python try_rows.py

Prints (1) checks, each with ok or WRONG, (2) a table of times for the six convolutions of the CNN for every
tile that was tried, fastest first, (3) the same for the sum over examples, (4) what to write into
`tiles_for` (convolution_rows.py) and `_HEIGHT, _WIDTH, _WARPS, _PROGRAMS` (row_sum.py), with the time gained.
Kernels are compiled by several processes first; the whole takes less than a minute on 16 cores.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import torch

from discreet.learning.deep.accelerator.convolution_rows import (
    Geometry,
    Tiles,
    convolution_rows,
    rows_by_tiles,
    tiles_for,
)
from discreet.learning.deep.accelerator.row_sum import add_by_tiles, add_rounded_rows

BATCH = 512
BANDWIDTH = 4.0e12  # bytes a second that a copy gets
LAYERS = [(3, 64, 1, 32), (64, 64, 1, 32), (64, 128, 2, 32), (128, 128, 1, 16), (128, 256, 2, 16), (256, 256, 1, 8)]
PLACES = Geometry((3, 3), (1, 1), (1, 1), (1, 1))
F, B = torch.float32, torch.bfloat16


def candidates(layer):
    """Tiles, types of products, and whether a program has three taps: what is tried for a layer."""
    channels, outputs, _, _ = layer
    if channels == 3:
        sizes = [(64, 32, 64, 4, 3), (64, 32, 64, 4, 2), (64, 32, 128, 4, 2), (64, 32, 32, 4, 3), (64, 32, 128, 8, 2)]
        return [(Tiles(*size), kind, False) for size in sizes for kind in (F, B)]
    sizes = [
        (64, 64, 32, 4, 3, F), (64, 64, 32, 4, 2, F), (64, 64, 32, 8, 3, F), (64, 64, 64, 8, 2, F),
        (64, 32, 32, 4, 3, F), (64, 32, 32, 4, 4, F), (64, 32, 64, 4, 2, F),
        (64, 64, 32, 4, 3, B), (64, 64, 64, 4, 2, B), (64, 64, 64, 8, 3, B),
    ]  # fmt: skip
    if outputs >= 128:
        sizes += [
            (128, 64, 32, 8, 3, F), (128, 64, 32, 8, 2, F), (128, 64, 64, 8, 2, F), (128, 32, 32, 4, 3, F),
            (128, 32, 32, 8, 3, F), (128, 32, 64, 8, 2, F), (128, 64, 64, 8, 2, B), (128, 64, 32, 8, 3, B),
        ]  # fmt: skip
    if channels >= 128:
        sizes += [(64, 128, 32, 8, 3, F), (64, 128, 32, 8, 2, F), (64, 128, 32, 8, 2, B)]
    found = [(Tiles(*size[:5]), size[5], True) for size in sizes]
    high = 128 if outputs >= 128 else 64  # and with taps and channels as one axis
    return [*found, (Tiles(high, 128, 32, 8, 3), F, False), (Tiles(high, 128, 32, 8, 2), F, False)]


def tensors(layer, examples, last=False):
    channels, outputs, stride, size = layer
    generator = torch.Generator("cuda").manual_seed(1)
    given = torch.randn(examples, channels, size, size, device="cuda", generator=generator)
    slopes = torch.randn(examples, outputs, size // stride, size // stride, device="cuda", generator=generator)
    if last:
        given, slopes = (one.to(memory_format=torch.channels_last) for one in (given, slopes))
    return given, slopes, PLACES._replace(stride=(stride, stride))


def made(parts, tiles, kind, in_three):
    return rows_by_tiles(*parts, in_three=in_three, product=kind, tiles=tiles)


def usual(layer):
    in_three = layer[0] > 7
    return tiles_for(layer[1], layer[0] if in_three else 9 * layer[0], in_three=in_three, is_short=False), F, in_three


def compile_one(job):
    """Compile one kernel in another process: rows of two examples have the same kernel as those of many."""
    try:
        if job[0] == "sum":
            sum_with(*sum_tensors(*job[1:3]), *job[3:])()
        else:
            made(tensors(job[0], 2), *job[1:])
        torch.cuda.synchronize()
    except Exception as error:  # too large a tile, say
        return f"{type(error).__name__}: {str(error)[:120]}"
    return ""


def milliseconds(work, times=12):
    for _ in range(3):
        work()
    marks = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(times)]
    for start, end in marks:
        start.record()
        work()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(end) for start, end in marks)


def said(name, good, figure=""):
    print(f"  {'ok   ' if good else 'WRONG'} {name} {figure}", flush=True)


def exact_rows(given, slopes, geometry):
    shape = (slopes.shape[1], given.shape[1], *geometry.kernel)
    each = [
        torch.nn.grad.conv2d_weight(
            x[None].double(), shape, g[None].double(), geometry.stride, geometry.padding, geometry.dilation
        )
        for x, g in zip(given, slopes, strict=True)
    ]
    return torch.stack(each).permute(0, 1, 3, 4, 2).flatten(2, 3)


def check(name, given, slopes, geometry):
    rows, bounds, sums = convolution_rows(given, slopes, geometry)
    some = [0, 1, len(given) - 1]
    expected = exact_rows(given[some], slopes[some], geometry)
    off = float((rows[some].double() - expected).norm() / expected.norm())
    said(f"{name}: rows", off < 0.006, f"relative difference {off:.1e} (of 16 bits 2e-3 to 4e-3)")
    share = bounds / rows.double().square().sum((1, 2, 3))
    said(f"{name}: squares", bool((share >= 1).all() and (share < 1.0001).all()), f"{float(share.min() - 1):.1e} above")
    expected = slopes.double().sum((2, 3))
    off = float((sums.double() - expected).norm() / expected.norm())
    said(f"{name}: sums of slopes", off < 1e-5, f"{off:.1e}")
    other_given, other_slopes = given.clone(), slopes.clone()
    other_given[1:], other_slopes[2:] = torch.inf, torch.nan
    again, bounds_again, _ = convolution_rows(other_given, other_slopes, geometry)
    alone = torch.equal(again[0], rows[0]) and bool(bounds_again[0] == bounds[0])
    said(f"{name}: an example is by itself", alone and not bool(bounds_again[1:].isfinite().any()))


def check_all():
    for layer in LAYERS:
        check(str(layer), *tensors(layer, 8))
    check("channels last", *tensors(LAYERS[3], 8, last=True))
    given, slopes, geometry = tensors(LAYERS[3], 8)
    check("16 bits", given.bfloat16(), slopes.bfloat16(), geometry)
    check("half", given.half(), slopes.half(), geometry)
    x = torch.randn(6, 20, 19, 23, device="cuda")
    for kernel, stride, padding, dilation in [((5, 2), (2, 1), (2, 0), (1, 2)), ((1, 1), (1, 1), (0, 0), (1, 1)), ((2, 3), (1, 2), (0, 2), (2, 2))]:
        y = torch.nn.functional.conv2d(x, torch.randn(33, 20, *kernel, device="cuda"), None, stride, padding, dilation)
        check(f"kernel {kernel}", x, torch.randn_like(y), Geometry(kernel, stride, padding, dilation))


def check_sums():
    for examples, shape, kind in [(512, (64, 9, 64), B), (33, (20, 4, 7), B), (512, (300,), F), (70, (1,), F), (512, (256, 9, 256), B)]:
        rows = torch.randn(examples, *shape, device="cuda").to(kind)
        factors = torch.randn(examples, device="cuda").mul(1e7).double()  # of 24 bits: products are exact
        factors[3] = 0
        rows[3] = torch.nan
        total = torch.arange(rows[0].numel(), device="cuda")
        expected = total.clone()
        view = total if len(shape) == 1 else total.view(shape[0], shape[2], shape[1]).transpose(1, 2)
        wanted = expected if len(shape) == 1 else expected.view(shape[0], shape[2], shape[1]).transpose(1, 2)
        add_rounded_rows(view, rows, factors)
        for row, factor in zip(rows, factors, strict=True):
            if factor != 0:
                wanted += (row.double() * factor).round().long()
        said(f"sum of {examples} rows of {shape}", torch.equal(total, expected))


def time_rows():
    found = {}
    for layer in LAYERS:
        channels, outputs, stride, size = layer
        parts = tensors(layer, BATCH)
        given, slopes, _ = parts
        work = 2 * BATCH * (size // stride) ** 2 * outputs * 9 * channels
        written = 2 * BATCH * outputs * 9 * channels
        floor = (written + 4 * (given.numel() + slopes.numel())) / BANDWIDTH * 1e3
        plain = milliseconds(lambda: torch.nn.grad.conv2d_weight(given, (outputs, channels, 3, 3), slopes, stride, 1))
        print(f"\n{channels}-{outputs}, stride {stride}, {size}x{size}: {work / 1e9:.1f} GFLOP, memory floor {floor:.3f} ms, cuDNN's summed gradient {plain:.3f} ms")
        times = []
        for choice in dict.fromkeys([usual(layer), *candidates(layer)]):
            try:
                taken = milliseconds(lambda: made(parts, *choice))
            except Exception as error:
                print(f"  failed {choice}: {type(error).__name__}: {str(error)[:90]}")
                continue
            times.append((taken, *choice))
        found[layer] = sorted(times, key=lambda one: one[0])
        print(f"  {'ms':>7} {'TFLOP/s':>8}  outputs columns positions warps stages products")
        for taken, tiles, kind, in_three in found[layer]:
            sign = ("" if in_three else "  one axis") + ("  <- now" if (tiles, kind, in_three) == usual(layer) else "")
            print(f"  {taken:7.3f} {work / taken / 1e9:8.0f}  {tiles.outputs:7} {tiles.columns:7} {tiles.positions:9} {tiles.warps:5} {tiles.stages:6} {'tf32' if kind == F else 'bf16'}{sign}", flush=True)
    return found


def time_last():
    print("\nchannels last (32-bit numbers, batch 512), usual tiles of each type of product:")
    for layer in LAYERS[1::2]:
        parts = tensors(layer, BATCH, last=True)
        for kind in (F, B):
            tiles = tiles_for(layer[1], layer[0], in_three=True, is_short=kind == B)
            taken = milliseconds(lambda: made(parts, tiles, kind, True))
            print(f"  {layer[0]}-{layer[1]}: {'tf32' if kind == F else 'bf16'} {taken:.3f} ms", flush=True)


SUMS = [(589824, B), (294912, B), (147456, B), (36864, B), (1728, B), (256, F)]
SUM_TILES = [(8, 1024, 4), (4, 1024, 4), (16, 1024, 4), (8, 512, 4), (16, 512, 2), (8, 2048, 8), (8, 256, 4)]
PROGRAMS = (256, 1024, 2048)


def sum_tensors(columns, kind):
    rows = torch.randn(BATCH, columns, device="cuda").to(kind)
    factors = torch.rand(BATCH, device="cuda", dtype=torch.float64) * 1e6
    return torch.zeros(columns, dtype=torch.int64, device="cuda"), rows, factors


def sum_with(total, rows, factors, height, width, warps, programs):
    width = min(width, 1 << (total.numel() - 1).bit_length())
    share = max(1, programs * width // total.numel())
    return lambda: add_by_tiles(total, rows, factors, height=height, width=width, warps=warps, share=share)


def time_sums():
    best = {}
    for columns, kind in SUMS:
        given = sum_tensors(columns, kind)
        floor = given[1].numel() * given[1].element_size() / BANDWIDTH * 1e3
        now = milliseconds(lambda: add_rounded_rows(*given))
        print(f"\nsum of {BATCH} rows of {columns} {kind}: memory floor {floor:.4f} ms, now {now:.4f} ms")
        choices = [(*tile, programs) for tile in SUM_TILES for programs in PROGRAMS]
        best[columns] = sorted((milliseconds(sum_with(*given, *choice)), *choice) for choice in choices)
        for taken, height, width, warps, programs in best[columns][:6]:
            print(f"  {taken:.4f} ms  height {height} width {width} warps {warps} programs {programs}", flush=True)
    return best


def advice(found, sums):
    print("\nTo write into tiles_for, by layer (time now -> best):")
    now_total = best_total = 0.0
    for layer, times in found.items():
        now = next((taken for taken, *choice in times if tuple(choice) == usual(layer)), float("nan"))
        taken, tiles, kind, in_three = times[0]
        now_total, best_total = now_total + now, best_total + taken
        print(f"  {layer[0]}-{layer[1]}: {now:.3f} -> {taken:.3f} ms with {tuple(tiles)} {'tf32' if kind == F else 'bf16'}{'' if in_three else ', one axis (in_three False)'}")
    print(f"  all rows: {now_total:.3f} -> {best_total:.3f} ms a batch of {BATCH}")
    common = {}
    for times in sums.values():
        for taken, *size in times:
            common.setdefault(tuple(size), []).append(taken / times[0][0])
    full = {size: max(shares) for size, shares in common.items()}
    size = min(full, key=full.__getitem__)
    print(f"To write into row_sum.py: _HEIGHT, _WIDTH, _WARPS = {size[:3]}, _PROGRAMS = {size[3]}: at most {full[size]:.2f} of the best for every size")


def main():
    started = time.time()
    print(torch.__version__, __import__("triton").__version__, torch.cuda.get_device_name())
    jobs = [(layer, *choice) for layer in LAYERS for choice in dict.fromkeys([usual(layer), *candidates(layer)])]
    jobs += [("sum", *size, *tile, programs) for size in SUMS for tile in SUM_TILES for programs in PROGRAMS]
    with ProcessPoolExecutor(12, mp_context=multiprocessing.get_context("spawn")) as pool:
        for job, message in zip(jobs, pool.map(compile_one, jobs, chunksize=3), strict=True):
            if message:
                print("  cannot be compiled:", job, message)
    print(f"{len(jobs)} kernels compiled after {time.time() - started:.0f} s\n\nchecks:")
    check_all()
    check_sums()
    print(f"after {time.time() - started:.0f} s")
    found = time_rows()
    time_last()
    sums = time_sums()
    advice(found, sums)
    print(f"\nall done after {time.time() - started:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
