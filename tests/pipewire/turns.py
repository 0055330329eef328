"""What undoes a transform, as PipeWire defines it: mirrored, if it is 4 or more, then turned
counter-clockwise that many times."""


def rows(samples, width):
    return [samples[i:i + width] for i in range(0, len(samples), width)]


def upright(m, transform):
    for _ in range(transform % 4):
        m = [bytes(r) for r in zip(*m[::-1])]
    return [r[::-1] for r in m] if transform > 3 else m


def planes(kind, raw, w, h):
    area, c = w * h, (h + 1) // 2 * (w // 2)
    if kind == "grey":
        return [rows(raw, w)]
    if kind == "yuy2":
        return [rows(raw[::2], w), rows(raw[1::4], w // 2), rows(raw[3::4], w // 2)]
    u, v = (raw[area::2], raw[area + 1::2]) if kind == "nv12" else (raw[area:area + c], raw[area + c:])
    return [rows(raw[:area], w), rows(u, w // 2), rows(v, w // 2)]


def shown(kind, raw, w, h, transform):
    p = planes(kind, raw, w, h)
    if kind == "yuy2" and transform % 2:  # chroma that has no such layout on its side
        p[1:] = [[bytes(s for s in r for _ in "12") for r in m] for m in p[1:]]
    return b"".join(r for m in p for r in upright(m, transform))


def y4m(size):
    f = open("out.y4m", "rb")
    head = f.readline()
    frames = []
    while f.readline():
        frames.append(f.read(size))
    return head, [f for f in frames if len(f) == size]
