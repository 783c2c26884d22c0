import io
import struct
import zlib

import pytest
from PIL import Image

from kebab.errors.catalog import ParseFailed
from kebab.llm.pictures import _list_faults, count_pages, encode_page
from tests.shape.libraries import list_own_exceptions


def save(image, form, **options):
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def encode(data, number=0):
    return Image.open(io.BytesIO(encode_page(data, number, "a.png")))


@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "PPM"])
def test_every_format_is_sent_as_a_small_jpeg(form):
    data = save(Image.new("RGB", (3000, 1500), "red"), form)

    assert count_pages(data, "a") == 1
    assert (encode(data).format, encode(data).size) == ("JPEG", (1568, 784))


def test_the_pages_of_a_tiff_are_apart():
    pages = [Image.new("L", (20, 20), shade) for shade in (0, 255)]
    data = save(pages[0], "TIFF", save_all=True, append_images=pages[1:])

    assert count_pages(data, "a") == 2
    assert [encode(data, number).getpixel((5, 5))[0] for number in (0, 1)] == [0, 255]


def test_a_picture_is_upright_on_white():
    turned = Image.Exif()
    turned[0x0112] = 6
    assert encode(save(Image.new("RGB", (40, 20)), "JPEG", exif=turned)).size == (20, 40)
    assert encode(save(Image.new("RGBA", (20, 20)), "PNG")).getpixel((5, 5)) == (255, 255, 255)


@pytest.mark.parametrize("mode", ["I;16", "I", "F"])
def test_a_picture_of_more_than_8_bits_keeps_its_shades(mode):
    image = Image.new("L", (20, 20), 255)
    image.paste(0, (0, 0, 10, 20))
    deep = Image.new(mode, image.size)
    deep.putdata([3000 + shade * 100 for shade in image.tobytes()])

    shown = encode(save(deep, "TIFF")).convert("L")

    assert shown.getpixel((3, 3)) < 20
    assert shown.getpixel((16, 16)) > 235


def build_bomb(side):
    """Return a PNG file whose header claims a square of this side."""
    parts = [(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)), (b"IDAT", b"")]
    chunks = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"no picture", "cannot be read"),
        (build_bomb(9_200), "too large"),
        (build_bomb(60_000), "cannot be read"),
        (save(Image.effect_noise((90, 90), 50), "PNG")[:3000], "cannot be read"),
    ],
)
def test_hostile_and_damaged_files_are_refused(data, cause):
    with pytest.raises(ParseFailed, match=cause):
        encode_page(data, count_pages(data, "a") - 1, "a")


def test_every_exception_of_the_library_is_one_that_is_caught_or_of_other_work():
    own = {kind for kind in list_own_exceptions("PIL") if not issubclass(kind, Warning)}

    assert {kind.__name__ for kind in own if not issubclass(kind, _list_faults())} == {
        *("BLPFormatError", "PdfFormatError"),  # of formats that are not opened
        "PyCMSError",  # of colour profiles
    }
