"""`python -m tests.thumbnails [NAME ...]`: make the thumbnails of presets that `/datasets/new/` shows.

Each is saved as `static/presets/NAME.webp`, or as `NAME.txt` if the preset makes stories.
"""

import base64
import io
import os
import sys

import django
from PIL import Image

SIZE = (240, 160)  # limit of width and height in pixels
QUALITY = 72


def content_of(name: str) -> tuple[str, bytes]:
    """Return the name and the content of a preset's thumbnail file."""
    from generation.specs.presets import make_thumbnail

    thumbnail = make_thumbnail(name)
    if not thumbnail.image:
        return f"{name}.txt", "".join(f"{line}\n" for line in thumbnail.story).encode()
    image = Image.open(io.BytesIO(base64.b64decode(thumbnail.image.partition(",")[2])))
    is_small = image.width <= SIZE[0]
    image.thumbnail(SIZE)
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=QUALITY, method=6, lossless=is_small)
    return f"{name}.webp", buffer.getvalue()


def main(names: list[str]) -> None:
    """Make the thumbnails of the named presets, or of all."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    from generation.specs.presets import FOLDER, preset_names

    FOLDER.mkdir(exist_ok=True)
    for name in names or preset_names():
        file, content = content_of(name)
        (FOLDER / file).write_bytes(content)
        sys.stdout.write(f"{file}: {len(content):,} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
