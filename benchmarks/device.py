"""Deep learning on an accelerator: a private step beside a plain one, and repeated steps beside single ones.

``python -m benchmarks.device`` needs a GPU. It checks that repeated batches give the weights that single ones
give, with the same replayed noise, and that kernels give on this device what they should. Then it prints, for
each model, the time of a step in milliseconds: plain, launched part by part and as one recorded program (a
CUDA graph), ours in a loop and by `run`, and Opacus where it can be imported; with `--compiled` also plain
and ours by `torch.compile`. Kinds take turns of ten steps, between two events of the device; medians. Ours
begin after 72 steps: steps 1, 2, 4, 8, ... are also tried out, the next of them is the 128th. Memory is the
largest of one kind, with its first batches. Each is compared with plain of its kind.
"""

from __future__ import annotations

import argparse
import gc
import statistics
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.deep import opacus_step
from discreet.learning import private
from discreet.learning.deep.accelerator.convolution_uses import convolution_uses
from discreet.noise import replay

BATCHES = {"mlp": 512, "cnn": 512, "gpt": 32, "hugging_face": 16}


ASKED = argparse.Namespace(autocast=False)


class HuggingFace(nn.Module):
    """GPT-2 of the package transformers, with the table of words as its last layer."""

    def __init__(self) -> None:
        super().__init__()
        from transformers import GPT2Config, GPT2LMHeadModel

        self.inner = GPT2LMHeadModel(GPT2Config()).eval()

    def forward(self, texts: Tensor) -> Tensor:
        """Return scores of the next words; positions belong to examples."""
        places = torch.arange(texts.shape[1], device=texts.device).expand(len(texts), -1)
        return self.inner(input_ids=texts, position_ids=places, use_cache=False).logits


class Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.three, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, values: Tensor) -> Tensor:
        """Attend to what came before, then look at each position."""
        batch, length, width = values.shape
        parts = self.three(self.before(values)).view(batch, length, 3, self.heads, width // self.heads)
        queries, keys, contents = parts.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(queries, keys, contents, is_causal=True)
        values = values + self.joined(seen.transpose(1, 2).reshape(batch, length, width))
        return values + self.down(functional.gelu(self.up(self.between(values))))


class Transformer(nn.Module):
    """A classifier of texts, of the size of GPT-2 by default."""

    def __init__(self, words: int = 50257, length: int = 128, width: int = 768, layers: int = 12) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, width // 64) for _ in range(layers))
        self.norm, self.last = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, texts: Tensor) -> Tensor:
        """Return scores of ten classes."""
        places = torch.arange(texts.shape[1], device=texts.device).expand(len(texts), -1)
        values = self.words(texts) + self.places(places)
        for block in self.blocks:
            values = block(values)
        return self.last(self.norm(values)[:, -1])


def made(name: str) -> nn.Module:
    """Return a network of 37 million, 1.1 million or 124 million parameters, on the accelerator."""
    if name == "hugging_face":
        return HuggingFace().cuda()
    if name == "gpt":
        return Transformer().cuda()
    if name == "mlp":
        sizes = [784, 4096, 4096, 4096, 10]
        layers = [[nn.Linear(*pair), nn.ReLU()] for pair in pairwise(sizes)]
        return nn.Sequential(*[one for layer in layers for one in layer][:-1]).cuda()
    sizes, strides = [3, 64, 64, 128, 128, 256, 256], [1, 1, 2, 1, 2, 1]
    parts: list[nn.Module] = []
    for before, after, stride in zip(sizes, sizes[1:], strides, strict=False):
        parts += [nn.Conv2d(before, after, 3, stride, 1), nn.GroupNorm(16, after), nn.ReLU()]
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10)).cuda()


def rows_for(name: str, count: int) -> tuple[Tensor, Tensor]:
    """Return made-up examples and labels."""
    shapes = {"mlp": (784,), "cnn": (3, 32, 32)}
    texts = torch.randint(0, 50257, (count, 128))
    inputs = torch.randn(count, *shapes[name]) if name in shapes else texts
    labels = texts if name == "hugging_face" else torch.randint(0, 10, (count,))
    return inputs.cuda(), labels.cuda()


def losses_of(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the loss of each example: of texts, the mean over its words."""
    if labels.dim() == 1:
        return functional.cross_entropy(scores, labels, reduction="none")
    return functional.cross_entropy(scores.transpose(1, 2), labels, reduction="none").mean(1)


def reduced() -> AbstractContextManager[object]:
    """Let PyTorch choose shorter floats where it may, if that was asked for."""
    return torch.autocast("cuda", torch.bfloat16) if ASKED.autocast else nullcontext()


def plain_step(name: str, inputs: Tensor, labels: Tensor) -> Callable[[], None]:
    """A step of SGD without privacy."""
    model = made(name)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        with reduced():
            loss = losses_of(model(inputs), labels).mean()
        loss.backward()
        optimizer.step()

    return step


def recorded(step: Callable[[], None]) -> Callable[[], None]:
    """Record a step as one program."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return lambda keep=step: graph.replay()  # type: ignore[misc]  # the step keeps its model alive


def compiled_step(name: str, inputs: Tensor, labels: Tensor) -> Callable[[], None]:
    """A recorded step of SGD without privacy, of a compiled model."""
    torch.compiler.reset()  # of other models, whose shapes would be taken for ones that change
    model = made(name)
    compiled = torch.compile(model, dynamic=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)

    def step() -> None:
        optimizer.zero_grad()
        with reduced():
            loss = losses_of(compiled(inputs), labels).mean()
        loss.backward()
        optimizer.step()

    return recorded(step)


def private_step(name: str, inputs: Tensor, labels: Tensor, way: str) -> Callable[[], None]:
    """A step of ours, sampling and noise included: all examples take part, in one physical batch."""
    model = made(name)
    optimizer = private(
        torch.optim.SGD(model.parameters(), lr=0.01),
        model,
        (inputs, labels),
        epsilon=50,
        delta=1e-5,
        batch=len(inputs),
        steps=10**4,
        physical=len(inputs),
    )

    def losses(rows: Tensor, targets: Tensor) -> Tensor:
        with reduced():
            return losses_of(model(rows), targets)

    if way == "loop":
        batches = optimizer.batches()
        return lambda: optimizer.step(losses(*next(batches)))
    steps = optimizer.run(losses, compiler=torch.compile if way == "compiled run" else None)
    return lambda: next(steps) and None


def prepared(make: Callable[[], Callable[[], None]], steps: int = 8) -> tuple[Callable[[], None], float]:
    """Return a step that has been run so many times, and the largest memory of that in GB."""
    torch.cuda.synchronize()
    gc.collect()  # of what was before, which would be freed meanwhile
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    step = make()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return step, (torch.cuda.max_memory_allocated() - before) / 1e9


def time_of(step: Callable[[], None], count: int) -> float:
    """Return the milliseconds of a step, of so many in a row."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    step()
    start.record()
    for _ in range(count):
        step()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / count


def time_model(name: str, turns: int, peers: list[str], *, compiled: bool) -> None:
    """Print the times of a model's steps, each as a multiple of the plain one of its kind."""
    inputs, labels = rows_for(name, BATCHES[name])
    kinds: dict[str, tuple[str, Callable[[], Callable[[], None]]]] = {
        "plain": ("plain", lambda: plain_step(name, inputs, labels)),
        "plain, recorded": ("plain, recorded", lambda: recorded(plain_step(name, inputs, labels))),
        "discreet, loop": ("plain", lambda: private_step(name, inputs, labels, "loop")),
        "discreet, run": ("plain, recorded", lambda: private_step(name, inputs, labels, "run")),
        **{
            f"Opacus, {mode}": ("plain", lambda mode=mode: opacus_step(made(name), mode, inputs, labels))
            for mode in peers
        },
    }
    if compiled:
        twin = "plain, compiled"
        kinds[twin] = (twin, lambda: compiled_step(name, inputs, labels))
        kinds["discreet, compiled run"] = (twin, lambda: private_step(name, inputs, labels, "compiled run"))
    steps: dict[str, tuple[Callable[[], None], float]] = {}
    for kind, (_, make) in kinds.items():
        try:
            steps[kind] = prepared(make, 72 if "discreet" in kind else 8)
        except Exception as error:  # a peer that cannot do it is a result
            print(f"  {kind:24} fails: {type(error).__name__}")
    times: dict[str, list[float]] = {kind: [] for kind in steps}
    for _ in range(turns):
        for kind, (step, _) in steps.items():
            times[kind].append(time_of(step, 3 if name == "hugging_face" or "Opacus" in kind else 10))
    medians = {kind: statistics.median(found) for kind, found in times.items()}
    for kind, (_, memory) in steps.items():
        twin = kinds[kind][0]
        print(
            f"  {kind:24} {medians[kind]:8.2f} ms {medians[kind] / medians[twin]:6.2f} times {twin:16}"
            f" {memory:6.2f} GB {memory / steps[twin][1]:5.2f} times",
            flush=True,
        )


def check_rows_of_convolutions() -> None:
    """Print how far rows of convolutions are from doubles, and whether they depend on other examples.

    Interpreted kernels cannot show what a compiler makes of them.
    """
    for channels, outputs, stride, size in ((64, 64, 1, 32), (128, 256, 2, 16), (256, 256, 1, 8)):
        layer = nn.Conv2d(channels, outputs, 3, stride, 1).cuda()
        inputs = torch.randn(64, channels, size, size, device="cuda")
        slopes = torch.randn(64, outputs, size // stride, size // stride, device="cuda")
        found = convolution_uses(layer, inputs, slopes)["weight"].each()
        patches = functional.unfold(inputs.double(), 3, padding=1, stride=stride)
        exact = torch.bmm(slopes.double().flatten(2), patches.transpose(1, 2)).flatten(1)
        alone = convolution_uses(layer, inputs[5:6], slopes[5:6])["weight"].each()
        off = float((found - exact).norm() / exact.norm())
        same = torch.equal(alone[0], found[5])
        print(
            f"convolution {channels} to {outputs}: rows differ by {off:.1e}, alone they are the same: {same}"
        )


def weights_after(name: str, *, by_run: bool, steps: int = 8) -> Tensor:
    """Train with replayed sampling and noise, and return all weights."""
    torch.manual_seed(1)
    model = {"mlp": nn.Sequential(nn.Linear(784, 96), nn.ReLU(), nn.Linear(96, 10))}.get(name)
    model = Transformer(words=100, length=128, width=128, layers=2) if model is None else model
    model = model.cuda()
    inputs, labels = rows_for(name, 200)
    inputs = inputs % 100 if name == "gpt" else inputs
    with replay(7):
        optimizer = private(
            torch.optim.SGD(model.parameters(), lr=0.05),
            model,
            (inputs, labels),
            epsilon=1,
            delta=1e-5,
            batch=40,
            steps=steps,
            physical=32,
        )

        def losses(rows: Tensor, targets: Tensor) -> Tensor:
            return functional.cross_entropy(model(rows), targets, reduction="none")

        if by_run:
            assert list(optimizer.run(losses)) == list(range(1, steps + 1))
        else:
            for rows in optimizer.batches():
                optimizer.step(losses(*rows))
    return torch.cat([value.detach().flatten() for value in model.parameters()])


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--compiled", action="store_true", help="also by torch.compile")
    parser.add_argument("--models", nargs="+", choices=BATCHES, default=["mlp", "cnn", "gpt"])
    parser.add_argument("--autocast", action="store_true", help="16-bit floats where PyTorch may use them")
    asked = parser.parse_args(namespace=ASKED)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    try:
        import opacus

        peers, version = ["hooks", "ghost"], f", Opacus {opacus.__version__}"
    except ImportError:
        peers, version = [], ""
    kind = "bfloat16 by autocast" if asked.autocast else "TensorFloat-32"
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {kind}{version}")
    for name in ("mlp", "gpt"):
        one, other = weights_after(name, by_run=False), weights_after(name, by_run=True)
        print(
            f"{name}: weights of repeated and single batches differ by {float((one - other).abs().max()):.3g}"
        )
    check_rows_of_convolutions()
    for name in asked.models:
        print(f"{name}, batch {BATCHES[name]}")
        time_model(name, asked.turns, peers, compiled=asked.compiled)


if __name__ == "__main__":
    main()
