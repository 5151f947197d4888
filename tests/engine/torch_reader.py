"""A program for the Python with PyTorch: it prints each instance of a data loader as one line of JSON.

Its arguments are the JSON of a spec, the number of background processes, the number of instances, the number of this
program among all programs that share the stream (from 0), and the number of these programs.
"""

import json
import sys

from torch.utils.data import DataLoader

from generation.engine.torch_stream import TorchStream
from generation.engine.worlds import REGISTRY
from tests.worlds import marbles

SIZE = 4


def main(text: str, processes: int, count: int, shard: int, shards: int) -> None:
    REGISTRY[marbles.NAME] = marbles.WHERE
    dataset = TorchStream(json.loads(text), "train", SIZE, shard=shard, shards=shards)
    known = dataset.vocabulary
    done = 0
    for batch in DataLoader(dataset, batch_size=None, num_workers=processes):
        assert tuple(batch["images"].shape) == (SIZE, 3, 4, 36)
        assert batch["images"].dtype.itemsize == 1
        for image, words, length, answer in zip(*(batch[name] for name in batch), strict=True):
            text = known.decode(words.tolist())
            assert int(length) == len(text.split())
            pixels = image.permute(1, 2, 0).numpy().tobytes().hex()
            sys.stdout.write(json.dumps([text, known.answers[int(answer)], pixels]) + "\n")
            done += 1
        if done >= count:
            return


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
