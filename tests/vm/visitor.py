#!/usr/bin/python3 -IS
"""Programs that look at a virtual camera, many of them and quickly.

  visitor.py visit NODE COUNT   comes, takes one frame and goes, COUNT times
  visitor.py picture NODE FILE  comes and stays until a frame is not the placeholder, which it
                                writes to FILE; prints after how many milliseconds that was
"""
import fcntl
import mmap
import os
import select
import struct
import sys
import time

REQBUFS, QUERYBUF, QBUF, DQBUF = 0xC0145608, 0xC0585609, 0xC058560F, 0xC0585611
STREAMON = 0x40045612
CAPTURE, MMAP = 1, 1
BYTESUSED, MEMORY, OFFSET, LENGTH = 8, 60, 64, 72  # in struct v4l2_buffer, which has 88 bytes

PLACEHOLDER = bytes([46, 128, 46, 128])  # its corner, in yuyv
LIMIT_S = 30


class Visitor:
    def __init__(self, node):
        self.fd = os.open(node, os.O_RDWR)
        request = struct.pack("5I", 2, CAPTURE, MMAP, 0, 0)
        count = struct.unpack_from("I", fcntl.ioctl(self.fd, REQBUFS, request))[0]
        self.maps = []
        for index in range(count):
            buffer = self.call(QUERYBUF, self.buffer(index))
            offset, length = (struct.unpack_from("I", buffer, at)[0] for at in (OFFSET, LENGTH))
            self.maps.append(mmap.mmap(self.fd, length, offset=offset))
            self.call(QBUF, self.buffer(index))
        fcntl.ioctl(self.fd, STREAMON, struct.pack("i", CAPTURE))

    @staticmethod
    def buffer(index):
        buffer = bytearray(88)
        struct.pack_into("II", buffer, 0, index, CAPTURE)
        struct.pack_into("I", buffer, MEMORY, MMAP)
        return buffer

    def call(self, request, buffer):
        fcntl.ioctl(self.fd, request, buffer)
        return buffer

    def frame(self):
        if not select.select([self.fd], [], [], LIMIT_S)[0]:
            sys.exit(f"no frame within {LIMIT_S} s")
        buffer = self.call(DQBUF, self.buffer(0))
        index, used = (struct.unpack_from("I", buffer, at)[0] for at in (0, BYTESUSED))
        frame = self.maps[index][:used]
        self.call(QBUF, self.buffer(index))
        return frame

    def go(self):
        for one in self.maps:
            one.close()
        os.close(self.fd)


def visit(node, count):
    for _ in range(int(count)):
        visitor = Visitor(node)
        visitor.frame()
        visitor.go()


def picture(node, path):
    start = time.monotonic()
    visitor = Visitor(node)
    while (frame := visitor.frame()).startswith(PLACEHOLDER):
        if time.monotonic() - start > LIMIT_S:
            sys.exit(f"only the placeholder for {LIMIT_S} s")
    print(round(1000 * (time.monotonic() - start)))
    with open(path, "wb") as file:
        file.write(frame)


if __name__ == "__main__":
    {"visit": visit, "picture": picture}[sys.argv[1]](*sys.argv[2:])
