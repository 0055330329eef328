#!/usr/bin/python3 -IS
"""What other programs do to the node of a virtual camera.

  node.py add NUMBER LABEL          makes one, by the control device that 0.13 and later have
  node.py remove NUMBER             takes it away
  node.py claim NODE                claims it as a bilatcam does that has not written to it yet
  node.py map NODE                  has memory of it, and its file closed
  node.py write NODE FRAME [stream] writes a picture of 320x180 in yuyv, 30 times a second, asking
                                    for as little as it can, until it is refused; with "stream" it
                                    starts a stream first
"""
import ctypes
import fcntl
import mmap
import os
import struct
import sys
import time

CONTROL = "/dev/v4l2loopback"
ADD, REMOVE = 0x4C80, 0x4C81
S_FMT, REQBUFS, STREAMON = 0xC0D05605, 0xC0145608, 0x40045612
OFD_SETLK = 37
OUTPUT, YUYV, ANY_FIELD, MMAP = 2, 0x56595559, 0, 1


def control(request, argument):
    fd = os.open(CONTROL, os.O_RDWR)
    fcntl.ioctl(fd, request, argument)
    os.close(fd)


def add(number, label):
    """Its sizes, buffers, openers and messages are left to the module; caps are exclusive."""
    defaults = [0] * 8
    control(ADD, struct.pack("2i32s8i", int(number), int(number), label.encode(), *defaults))


def remove(number):
    control(REMOVE, int(number))


def claim(node):
    """Locked for as long as the process runs."""
    fd = os.open(node, os.O_RDWR)
    fcntl.fcntl(fd, OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    print("claimed", flush=True)
    time.sleep(3600)


def attempt(fd, request, argument):
    """What is refused here, need not be at the write that follows."""
    try:
        fcntl.ioctl(fd, request, argument)
    except OSError:
        pass


def open_as_writer(node):
    fd = os.open(node, os.O_RDWR)
    picture = bytearray(208)
    struct.pack_into("I4x4I", picture, 0, OUTPUT, 320, 180, YUYV, ANY_FIELD)
    attempt(fd, S_FMT, picture)
    return fd


def map_memory(node):
    fd = open_as_writer(node)
    fcntl.ioctl(fd, REQBUFS, struct.pack("5I", 2, OUTPUT, MMAP, 0, 0))
    if ctypes.CDLL(None).mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0) == -1:
        sys.exit("no memory to map")
    os.close(fd)
    print("mapped", flush=True)
    time.sleep(3600)


def write(node, path, *how):
    with open(path, "rb") as file:
        frame = file.read()
    fd = open_as_writer(node)
    if "stream" in how:
        attempt(fd, STREAMON, struct.pack("i", OUTPUT))
    while True:
        os.write(fd, frame)
        time.sleep(1 / 30)


if __name__ == "__main__":
    try:
        commands = {"add": add, "remove": remove, "claim": claim, "map": map_memory, "write": write}
        commands[sys.argv[1]](*sys.argv[2:])
    except OSError as error:
        sys.exit(error.strerror)
