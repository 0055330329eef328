#!/usr/bin/env python3
"""network_camera.py FOLDER: cameras of a network, and what goes wrong with them, for test_network.sh.

Serves HTTP, RTSP, HTTPS and RTSPS, each at a port that is free, and prints these ports and one more
that is free for UDP. FOLDER has film.mp4, small.mjpeg and large.mjpeg (pictures after each other),
film.h264, and cert.pem and key.pem, which nobody vouches for. All want the name "user" with the
password "geheim"; what is asked for is logged to FOLDER/asked. Ends with its standard input.
"""
import base64
import hashlib
import os
import re
import socket
import socketserver
import ssl
import sys
import threading
import time

folder = sys.argv[1]
BASIC = b"Basic " + base64.b64encode(b"user:geheim")
visits = {}  # how often each path was asked for, with the password
lock = threading.Lock()


def contents(name):
    with open(os.path.join(folder, name), "rb") as f:
        return f.read()


def pictures(name):
    """The JPEGs of a file."""
    data = contents(name)
    starts = [m.start() for m in re.finditer(b"\xff\xd8\xff", data)] + [len(data)]
    return [data[a:b] for a, b in zip(starts, starts[1:])]


def log(text):
    with lock, open(os.path.join(folder, "asked"), "a") as f:
        f.write(text + "\n")


class Handler(socketserver.StreamRequestHandler):
    def next_request(self):
        """The first line, and the headers; None at the end."""
        first = self.rfile.readline()
        headers = {}
        while True:
            line = self.rfile.readline()
            if not line.strip():
                break
            key, _, value = line.partition(b":")
            headers[key.strip().lower()] = value.strip()
        return (first.decode().split(), headers) if first else None

    def handle(self):
        try:
            self.serve()
        except (BrokenPipeError, ConnectionResetError):
            pass


class Http(Handler):
    def answer(self, status, *headers):
        self.wfile.write(b"\r\n".join([b"HTTP/1.1 " + status, b"Connection: close", *headers, b"", b""]))

    def serve(self):
        asked = self.next_request()
        if not asked:
            return
        (_, url, _), headers = asked
        path = url.split("?")[0]
        log(path)
        if path == "/silent":
            time.sleep(1000)
        if path.startswith(("/list", "/pieces", "/chunks", "/open/")):
            pass  # what a playlist names is asked for without a password
        elif headers.get(b"authorization") != BASIC:
            return self.answer(b"401 Unauthorized", b'WWW-Authenticate: Basic realm="camera"')
        with lock:
            self.visit = visits[path] = visits.get(path, 0) + 1
        serve = getattr(self, "serve_" + re.sub(r"\W.*", "", path[1:]), None)
        if serve:
            serve(path, headers)
        else:
            self.answer(b"404 Not Found")

    # --- films

    def serve_film(self, path, headers):
        data = contents("film.mp4")
        span = re.match(rb"bytes=(\d+)-(\d*)", headers.get(b"range", b""))
        first = int(span[1]) if span else 0
        last = min(int(span[2]) if span and span[2] else len(data) - 1, len(data) - 1)
        self.answer(b"206 Partial Content" if span else b"200 OK", b"Accept-Ranges: bytes",
                    b"Content-Length: %d" % (last - first + 1),
                    b"Content-Range: bytes %d-%d/%d" % (first, last, len(data)))
        self.wfile.write(data[first:last + 1])

    def serve_plain(self, path, headers):  # as Python's own server: no parts of files
        data = contents("film.mp4")
        self.answer(b"200 OK", b"Content-Length: %d" % len(data))
        self.wfile.write(data)

    def serve_cut(self, path, headers):  # says that there is more than it gives
        data = contents("film.mp4")
        self.answer(b"200 OK", b"Content-Length: %d" % len(data))
        self.wfile.write(data[:len(data) * 2 // 3])

    def serve_once(self, path, headers):  # all that there is the first time, and never again
        data = contents("film.mp4")
        self.answer(b"200 OK", b"Content-Length: %d" % len(data))
        self.wfile.write(data if self.visit == 1 else data[:len(data) * 2 // 3])

    def serve_single(self, path, headers):  # one connection for each
        if self.visit > 1:
            return self.answer(b"503 Service Unavailable")
        self.serve_plain(path, headers)

    def serve_stuck(self, path, headers):
        data = contents("film.mp4")
        self.answer(b"200 OK", b"Content-Length: %d" % len(data))
        self.wfile.write(data[:len(data) * 2 // 3])
        self.wfile.flush()
        time.sleep(1000)

    def serve_picture(self, path, headers):
        data = pictures("small.mjpeg")[0]
        self.answer(b"200 OK", b"Content-Type: image/jpeg", b"Content-Length: %d" % len(data))
        self.wfile.write(data)

    def serve_rubbish(self, path, headers):
        self.answer(b"200 OK", b"Content-Type: video/mp4")
        self.wfile.write(os.urandom(300000))

    def serve_open(self, path, headers):
        data = contents(os.path.basename(path))
        self.answer(b"200 OK", b"Content-Length: %d" % len(data))
        self.wfile.write(data)

    def serve_list(self, path, headers):
        """A playlist of one piece, which FOLDER/piece names."""
        data = b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n" + contents("piece") + b"\n#EXT-X-ENDLIST\n"
        self.answer(b"200 OK", b"Content-Type: application/vnd.apple.mpegurl", b"Content-Length: %d" % len(data))
        self.wfile.write(data)

    def serve_pieces(self, path, headers):
        """A playlist without an end: each second a new piece of those that FOLDER has, the last three of which it names."""
        with lock:
            newest = 2 + int(time.monotonic() - visits.setdefault("began", time.monotonic()))
        names = [i for i in range(newest - 2, newest + 1) if os.path.exists(os.path.join(folder, f"piece{i}.ts"))]
        data = b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:%d\n" % (newest - 2)
        data += b"".join(b"#EXTINF:1,\n/open/piece%d.ts\n" % i for i in names)
        self.answer(b"200 OK", b"Content-Type: application/vnd.apple.mpegurl", b"Content-Length: %d" % len(data))
        self.wfile.write(data)

    def serve_chunks(self, path, headers):
        """The same by DASH, of pieces that are named chunk1.m4s and so on, and of init.mp4."""
        with lock:
            newest = 3 + int(time.monotonic() - visits.setdefault("began by DASH", time.monotonic()))
        data = b'''<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="dynamic"
 availabilityStartTime="2020-01-01T00:00:00Z" minimumUpdatePeriod="PT1S" timeShiftBufferDepth="PT3S" minBufferTime="PT1S">
<Period id="0" start="PT0S"><AdaptationSet id="0" contentType="video" segmentAlignment="true">
<Representation id="0" mimeType="video/mp4" codecs="avc1.64000b" bandwidth="100000" width="160" height="90">
<SegmentTemplate timescale="1" initialization="/open/init.mp4" media="/open/chunk$Number$.m4s" startNumber="%d">
<SegmentTimeline><S t="%d" d="1" r="2"/></SegmentTimeline></SegmentTemplate>
</Representation></AdaptationSet></Period></MPD>
''' % (newest - 2, newest - 3)
        self.answer(b"200 OK", b"Content-Type: application/dash+xml", b"Content-Length: %d" % len(data))
        self.wfile.write(data)

    # --- live pictures, after each other

    def begin(self):
        # No camera knows its length, and some invent one.
        self.answer(b"200 OK", b"Content-Type: multipart/x-mixed-replace; boundary=next",
                    b"Content-Length: 999999999")

    def part(self, data):
        self.wfile.write(b"--next\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(data) + data + b"\r\n")
        self.wfile.flush()
        time.sleep(0.02)

    def show(self, name, n):
        all_pictures = pictures(name)
        for i in range(n):
            self.part(all_pictures[i % len(all_pictures)])

    def serve_live(self, path, headers):
        self.begin()
        self.show("small.mjpeg", 100000)

    def serve_dies(self, path, headers):
        self.begin()
        self.show("small.mjpeg", 10)

    def serve_stalls(self, path, headers):
        self.begin()
        self.show("small.mjpeg", 10)
        if self.visit == 1:
            time.sleep(1000)
        self.show("small.mjpeg", 100000)

    def serve_late(self, path, headers):
        if self.visit < 3:
            return self.answer(b"503 Service Unavailable")
        self.serve_live(path, headers)

    def serve_grows(self, path, headers):
        self.begin()
        while True:
            self.show("small.mjpeg", 10)
            self.show("large.mjpeg", 10)

    def serve_fields(self, path, headers):
        """Becomes interlaced the first time, is it the second time, and is it no more after that."""
        self.answer(b"200 OK", b"Content-Type: video/mp2t")
        self.show_pieces((["whole.ts"] * 6 + ["fields.ts"] * 99, ["fields.ts"] * 99, ["whole.ts"] * 99)[min(self.visit, 3) - 1])

    def serve_later(self, path, headers):
        """Ends the first time, becomes interlaced the second time, and is no more after that."""
        self.answer(b"200 OK", b"Content-Type: video/mp2t")
        self.show_pieces((["whole.ts"] * 6, ["whole.ts"] * 6 + ["fields.ts"] * 99, ["whole.ts"] * 99)[min(self.visit, 3) - 1])

    def serve_turns(self, path, headers):
        """Becomes interlaced each time."""
        self.answer(b"200 OK", b"Content-Type: video/mp2t")
        self.show_pieces((["whole.ts"] * 6 + ["fields.ts"] * 3) * 30)

    def show_pieces(self, names):
        for name in names:
            data = contents(name)
            for at in range(0, len(data), len(data) // 25):
                self.wfile.write(data[at:at + len(data) // 25])
                self.wfile.flush()
                time.sleep(0.02)

    def serve_noise(self, path, headers):
        self.begin()
        while True:
            self.show("small.mjpeg", 2)
            self.part(b"\xff\xd8\xff" + os.urandom(500) + b"\xff\xd9")
            if self.visit == 1:
                self.wfile.write(os.urandom(300))  # where the next one should begin


class Rtsp(Handler):
    def serve(self):
        nals = [n for n in re.split(b"\x00\x00\x00?\x01", contents("film.h264")) if n]
        while True:
            asked = self.next_request()
            if not asked:
                return
            (method, url, _), headers = asked
            log(f"rtsp {method}")
            self.sequence = headers[b"cseq"]
            if b'username="user"' not in headers.get(b"authorization", b""):
                self.answer(b"401 Unauthorized", b'WWW-Authenticate: Digest realm="camera", nonce="12345"')
                continue
            if not self.digest_fits(method, headers[b"authorization"].decode()):
                self.answer(b"403 Forbidden")
                continue
            if method == "DESCRIBE":
                self.describe(nals)
            elif method == "SETUP" and b"interleaved" not in headers[b"transport"]:
                self.answer(b"461 Unsupported Transport")
            elif method == "SETUP":
                self.answer(b"200 OK", b"Session: 1", b"Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
            else:
                self.answer(b"200 OK", b"Session: 1")
            if method == "PLAY":
                self.play(nals)
                return

    @staticmethod
    def digest_fits(method, told):
        words = dict(re.findall(r'(\w+)="([^"]*)"', told))
        md5 = lambda text: hashlib.md5(text.encode()).hexdigest()
        return words["response"] == md5(f"{md5('user:camera:geheim')}:12345:{md5(method + ':' + words['uri'])}")

    def answer(self, status, *headers, body=b""):
        self.wfile.write(b"\r\n".join([b"RTSP/1.0 " + status, b"CSeq: " + self.sequence, *headers,
                                       b"Content-Length: %d" % len(body), b"", body]))

    def describe(self, nals):
        sets = b",".join(base64.b64encode(n) for n in nals if n[0] & 31 in (7, 8))
        self.answer(b"200 OK", b"Content-Type: application/sdp", body=b"\r\n".join([
            b"v=0", b"o=- 0 0 IN IP4 127.0.0.1", b"s=camera", b"t=0 0", b"m=video 0 RTP/AVP 96",
            b"a=rtpmap:96 H264/90000", b"a=fmtp:96 packetization-mode=1;sprop-parameter-sets=" + sets,
            b"a=control:track", b""]))

    def play(self, nals):
        number, t = 0, 0
        while True:
            for nal in nals:
                last = nal[0] & 31 in (1, 5)  # one slice is one picture
                packet = (bytes([0x80, 96 | (last << 7)]) + (number & 65535).to_bytes(2, "big") +
                          (t & 0xffffffff).to_bytes(4, "big") + b"cam1" + nal)
                self.wfile.write(b"$\0" + len(packet).to_bytes(2, "big") + packet)
                number += 1
                if last:
                    self.wfile.flush()
                    t += 3600
                    time.sleep(0.04)


class Encrypted:
    def setup(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem"))
        self.request = context.wrap_socket(self.request, server_side=True)
        super().setup()


class Https(Encrypted, Http):
    pass


class Rtsps(Encrypted, Rtsp):
    pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


ports = []
for handler in (Http, Rtsp, Https, Rtsps):
    server = Server(("127.0.0.1", 0), handler)
    ports.append(server.server_address[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.bind(("127.0.0.1", 0))
    ports.append(s.getsockname()[1])
print(*ports, flush=True)
sys.stdin.read()
os._exit(0)
