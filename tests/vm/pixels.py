#!/usr/bin/python3 -IS
"""What the tests need to know about pixels. Frames are raw bytes in files.

  pixels.py wrap FORMAT WIDTHxHEIGHT RAW     one camera frame as y4m, on stdout
  pixels.py expect FORMAT Y4M                its first frame as a client gets it, on stdout
  pixels.py compare FRAME STREAM MINIMUM     is STREAM made of FRAME, at least MINIMUM times?
  pixels.py runs STREAM FRAME...             "a*3 1*50 2*9": STREAM is three times a frame that
                                             is not given, then 50 times the first FRAME, and so on
  pixels.py bars STREAM WIDTHxHEIGHT         "white yellow ...": eight bars of colour as the newest
                                             yuyv frame has them, from left to right
"""
import sys

Y4M_COLOUR = {"yuyv": "C422", "uyvy": "C422", "nv12": "C420jpeg", "grey": "Cmono"}


def planes_of_camera(fmt, width, height, raw):
    """Takes the layout apart, without touching a value."""
    if fmt == "yuyv":
        return raw[0::2], raw[1::4], raw[3::4]
    if fmt == "uyvy":
        return raw[1::2], raw[0::4], raw[2::4]
    luma, chroma = raw[: width * height], raw[width * height :]
    return (luma, chroma[0::2], chroma[1::2]) if fmt == "nv12" else (luma,)


def wrap(fmt, size, path):
    width, height = map(int, size.split("x"))
    with open(path, "rb") as file:
        raw = file.read()
    header = f"YUV4MPEG2 W{width} H{height} F30:1 Ip A1:1 {Y4M_COLOUR[fmt]}\nFRAME\n"
    sys.stdout.buffer.write(header.encode() + b"".join(planes_of_camera(fmt, width, height, raw)))


def planes_of_y4m(path):
    """Returns width, the chroma rows per luma row (0 for none) and the planes."""
    with open(path, "rb") as file:
        header = file.readline().decode().split()
        frame = file.readline()
        data = file.read()
    tags = {tag[0]: tag[1:] for tag in header[1:]}
    width, height = int(tags["W"]), int(tags["H"])
    colour = tags.get("C", "420jpeg")
    if not frame.startswith(b"FRAME"):
        sys.exit(f"{path} holds no frame")
    rows = {"mono": 0, "420": height // 2, "422": height}[colour if colour == "mono" else colour[:3]]
    luma, chroma = width * height, width // 2 * rows
    planes = [data[:luma], data[luma : luma + chroma], data[luma + chroma : luma + 2 * chroma]]
    return width, height, rows, planes


def expect(fmt, path):
    """Rearranges a frame for a client. Only chroma of 4:2:0 is copied, each row to two,
    and grey gets neutral chroma: nothing is averaged, so the comparison stays exact."""
    width, height, rows, (luma, *chroma) = planes_of_y4m(path)
    half = width // 2
    wanted = height if fmt == "yuyv" else height // 2
    if rows == 0:
        chroma = [bytes([128]) * (half * wanted)] * 2
    elif rows * 2 == wanted:
        chroma = [
            b"".join(plane[y // 2 * half : (y // 2 + 1) * half] for y in range(height))
            for plane in chroma
        ]
    elif rows != wanted:
        sys.exit("a client's 4:2:0 frame cannot be foretold exactly from 4:2:2")
    if fmt == "yuyv":
        frame = bytearray(width * height * 2)
        frame[0::2], frame[1::4], frame[3::4] = luma, *chroma
    else:
        frame = luma + chroma[0] + chroma[1]
    sys.stdout.buffer.write(frame)


def compare(frame_path, stream_path, minimum):
    """The first frames of a stream may be the placeholder that is shown until the camera
    delivers; from the first right frame on all must be right, to the last byte."""
    with open(frame_path, "rb") as file:
        frame = file.read()
    with open(stream_path, "rb") as file:
        stream = file.read()
    got = [stream[at : at + len(frame)] for at in range(0, len(stream), len(frame))]
    first = got.index(frame) if frame in got else len(got)
    right = got[first:]
    for number, one in enumerate(right, first):
        if one != frame:
            sys.exit(f"frame {number} of {len(got)}: {difference(frame, one)}")
    if not right and got:
        sys.exit(f"none of {len(got)} frames is right; the last: {difference(frame, got[-1])}")
    if len(right) < int(minimum):
        sys.exit(f"{len(right)} right frames of {len(got)}, wanted {minimum}")
    print(f"{len(right)} frames after {first} others, {len(right) * len(frame)} samples compared")


def runs(stream_path, *frame_paths):
    """A frame that the reader's end cut off is left out."""
    names = {}
    for number, path in enumerate(frame_paths, 1):
        with open(path, "rb") as file:
            names[file.read()] = str(number)
    size = len(next(iter(names)))
    found = []
    with open(stream_path, "rb") as file:
        while len(frame := file.read(size)) == size:
            unknown = len(names) - len(frame_paths)
            name = names.setdefault(frame, chr(ord("a") + unknown))
            if not found or found[-1][0] != name:
                found.append([name, 0])
            found[-1][1] += 1
    print(" ".join(f"{name}*{count}" for name, count in found))


# Full colours in limited range and BT.601.
BARS = {
    "white": (235, 128, 128), "yellow": (210, 16, 146), "cyan": (170, 166, 16),
    "green": (145, 54, 34), "magenta": (106, 202, 222), "red": (81, 90, 240),
    "blue": (41, 240, 110), "black": (16, 128, 128),
}


def bars(stream_path, size):
    """Their middles, high, at half height and low; a bar that is not the same there is "mixed",
    and one that is more than rounding away from all of the colours "other"."""
    width, height = map(int, size.split("x"))
    with open(stream_path, "rb") as file:
        stream = file.read()
    end = len(stream) // (width * height * 2) * width * height * 2
    found = []
    for number in range(8):
        names = set()
        for y in height // 4, height // 2, height * 3 // 4:
            at = end - width * height * 2 + (y * width + (2 * number + 1) * width // 16 // 2 * 2) * 2
            luma, blue, _, red = stream[at : at + 4]
            near = [
                name for name, wanted in BARS.items()
                if max(abs(a - b) for a, b in zip((luma, blue, red), wanted)) <= 2
            ]
            names.add(near[0] if near else "other")
        found.append(names.pop() if len(names) == 1 else "mixed")
    print(" ".join(found))


def difference(want, got):
    if len(want) != len(got):
        return f"{len(got)} bytes, want {len(want)}"
    wrong = [at for at, pair in enumerate(zip(want, got)) if pair[0] != pair[1]]
    at = wrong[0]
    return f"{len(wrong)} bytes differ, first at {at}: {got[at]}, want {want[at]}"


if __name__ == "__main__":
    commands = {"wrap": wrap, "expect": expect, "compare": compare, "runs": runs, "bars": bars}
    commands[sys.argv[1]](*sys.argv[2:])
