#!/usr/bin/env python3
"""house.py [FOLDER]: keeps the rules of docs/architecture.md.

Which room may see which, counted over all that a file reaches through includes; doors; what single
files must not see; no circle of files; tests in the folder of their room, and in tests/lib what two
folders use; no long file, no long function. Prints rooms, floors, arrows, arrows upward and circles
at the end. It checks itself with planted violations.
"""
import fnmatch
import functools
import os
import re
import sys

# Floor, room, and the rooms that its files may see. Equal to the page in docs, where it exists.
ROOMS = """
7 src/main        *
6 src/daemon      base filter picture v4l2 settings cli control pipeline
6 src/benchmark   base filter picture engine settings cli
6 tools           base filter picture settings engine cli ctl
5 src/pipeline    base filter picture engine v4l2 settings source sink
5 src/ctl         base picture settings cli control
4 src/source      base picture v4l2 video pipewire
4 cuda            base filter picture engine
4 src/sink        base picture settings v4l2 video pipewire
4 src/doctor      base filter picture engine v4l2 settings pipewire
4 src/control     base picture settings
4 src/cli         base filter picture settings
3 src/engine      base filter picture
3 src/v4l2        base picture
3 src/settings    base filter picture
3 src/video       base picture
3 src/pipewire    base picture
2 src/picture     base
2 src/filter      base
1 src/base
"""
MAX_ROOMS, MAX_FLOORS = 20, 7
OPEN = {"src/base", "src/picture", "src/filter", "src/v4l2", "src/video", "src/pipewire"}

# Rooms inside of rooms. The others see them only through their doors, if they have any.
SUBROOMS = {"src/sink/preview": (), "src/engine/simd": (),
            "src/engine/time": ("average.h", "motion.h", "noise_blocks.h", "past.h"),
            "cuda/kernel": ("bilateral.h", "time.h"), "cuda/lab": (), "tools/docgen": (), "tools/bench": ()}

# Headers that are seen past the door: by whom, and why.
SIDE_DOORS = [
    ("src/engine/process.h", "cuda cuda/lab src/main", "an engine in a process of its own"),
    ("src/engine/table.h", "cuda/lab src/pipeline src/main tools/bench", "others get a table as an argument"),
    ("src/cli/options.h", "src/ctl", "bilatcamctl has options of the same form"),
    ("src/control/name.h", "src/ctl", "the name on the bus that both ends share"),
    ("src/settings/status.h", "src/control src/ctl src/pipeline src/sink tools/docgen",
     "what the program is like, beside what it shall be"),
    ("src/ctl/commands.h", "tools/docgen", "documents are made from it"),
    ("src/engine/simd/cpu.h", "tools/bench", "the sets of row kernels are timed one by one"),
    ("cuda/kernel/kernels.h", "cuda/lab", "the lab times the launchers themselves"),
    ("cuda/autotune.h", "cuda/lab", "the lab measures what it chooses"),
    ("cuda/strips.h", "cuda/lab", "likewise"),
    ("cuda/device_past.h", "cuda/lab", "the lab times its steps"),
    ("tests/lib/images.h", "cuda/lab tools/bench", "what is measured is compared, too"),
    ("tests/lib/restarts.h", "tools/bench", "cameras send JPEGs with them"),
]

# Outside of the rooms: generated.
NO_ROOM = {"config-build.h"}

# Folders in tests that are of no single room.
NO_ROOMS_TESTS = {"lib", "packages", "program", "rules", "fuzz", "vm"}

PURE = ("src/filter/*.[ch] src/base/retry.[ch] src/base/flips.[ch] src/source/bursts.[ch] "
        "<stdbool.h> <stddef.h> <stdint.h> <stdlib.h> <string.h> <math.h>")

# What CPU and GPU both compile.
BOTH = "src/filter/noise_follow.h src/filter/tint.h src/filter/mean_count.h "

# Files, and all that they may see. C without a declaration does not compile, so a pure part has
# no way to a clock or a file.
ONLY = [
    (PURE, PURE),
    ("cuda/kernel/*.cu cuda/kernel/*.cuh", "cuda/kernel/* " + BOTH + "<*>"),
    ("*.cu *.cuh", "cuda/kernel/* cuda/lab/rungs.h " + BOTH + "<*>"),
]

# The ends of the house that belong to the stages.
CAPTURE = "src/source/* src/pipeline/capture.h "
FILTERING = "src/engine/* src/pipeline/filtering.h src/pipeline/restart.h "
OUTPUT = ("src/sink/* src/pipeline/output.h src/pipeline/tally.h src/pipeline/writer.h "
          "src/pipeline/outlet.h ")
BUILD = "config-build.h "

# Files, and what they must not see. The first row that names a file counts. Output sees sources,
# because some of them know the picture without its noise.
NEVER = [
    ("src/engine/table.c", ""),
    ("src/engine/*", "src/engine/table.h"),
    ("src/pipeline/backends.*", FILTERING),
    ("src/pipeline/check.c src/pipeline/open.c src/pipeline/live.c src/pipeline/requests.c src/pipeline/parts.h "
     "src/pipeline/stages.*", BUILD),
    ("src/pipeline/capture.*", FILTERING + OUTPUT + BUILD),
    ("src/pipeline/filtering.* src/pipeline/restart.*", CAPTURE + OUTPUT + BUILD),
    ("src/pipeline/output.* src/pipeline/tally.* src/pipeline/writer.*",
     FILTERING + BUILD + "src/pipeline/capture.h"),
    ("src/pipeline/outlet.*",
     CAPTURE + FILTERING + BUILD + "src/pipeline/output.h src/pipeline/tally.h src/pipeline/writer.h"),
    ("src/pipeline/*", CAPTURE + FILTERING + OUTPUT + BUILD),
    ("src/source/*", "src/picture/snapshot*.h src/picture/font.h src/picture/card.h"),
]

# Circles that stand, each as its files without endings, and why.
CIRCLES = {}

MAX_FILE, MAX_FUNCTION = 500, 60


def matches(path, patterns):
    return any(fnmatch.fnmatchcase(path, p) for p in patterns.split())


# Remembered, because the check of this check looks at almost the same files many times.
@functools.lru_cache(maxsize=None)
def find_all(pattern, text):
    return re.findall(pattern, text, re.M)


@functools.lru_cache(maxsize=None)
def functions(text):
    """The number of all lines, and the first line and the lines of each function."""
    lines, ret, start = text.splitlines(), [], None
    for i, line in enumerate(lines):
        if line == "{" or re.match(r"[\w-]+\(\) [{(]( #.*)?$", line):
            start = i
            while start and lines[start][0] == "{" and lines[start - 1] > " " and \
                    not lines[start - 1].endswith((";", "}", "*/")):
                start -= 1
        elif line in ("}", ")") and start is not None:
            ret.append((start + 1, i - start + 1))
            start = None
        elif not line.startswith((" ", "\t")) and line.endswith(";"):
            start = None
    return len(lines), ret


class House:
    def __init__(self, files, rooms=ROOMS):
        self.files = files
        self.floor, self.may = {}, {}
        for line in rooms.split("\n"):
            if line:
                floor, room, *sees = line.split()
                self.floor[room] = int(floor)
                self.may[room] = sees
        self.found = []
        self.used = set()  # exceptions that were needed
        self.parts = sorted([*self.floor, *SUBROOMS], key=len, reverse=True)
        self.includes = {f: self.direct(f, text) for f, text in files.items()
                         if re.search(r"\.(c|h|cu|cuh|cpp)$", f)}
        self.code = [f for f in self.includes if not f.startswith("tests/")]

    def say(self, text):
        if text not in self.found:
            self.found.append(text)

    def direct(self, file, text):
        """What the file includes: paths from the top, and system headers in <>."""
        ret = []
        for system, name in find_all(r'^\s*#\s*include\s*(?:(<[^>]+>)|"([^"]+)")', text):
            path = system or (f"src/{name}" if f"src/{name}" in self.files else name)
            if not system and path not in self.files and path not in NO_ROOM:
                self.say(f'{file} includes "{name}", which is no path from src or from the top')
            else:
                ret.append(path)
        return ret

    def part(self, path):
        """The room, or room inside of one, that a file is in."""
        stem = os.path.splitext(path)[0]
        return next((p for p in self.parts if path.startswith(p + "/") or stem == p), None)

    def room(self, path):
        part = self.part(path)
        return part if part in self.floor or part is None else part.rsplit("/", 1)[0]

    def reached(self, file):
        seen, queue = set(), [file]
        while queue:
            new = set(self.includes.get(queue.pop(), ())) - seen
            seen |= new
            queue += new
        return seen - {file}

    def check_door(self, file, header):
        part, own = self.part(header), self.part(file)
        if header.startswith("tests/"):
            part = "tests"
        if part in (own, None) or part in OPEN:
            return
        room = self.room(header)
        doors = SUBROOMS.get(part, (f"{os.path.basename(part)}.h",))
        if header in (*(f"{part}/{door}" for door in doors), f"{part}.h"):
            return
        # A room inside of another is at home there, but not the other way round.
        if own in SUBROOMS and part == room == self.room(file) and own != "cuda/lab":
            return
        for i, (side, guests, _) in enumerate(SIDE_DOORS):
            if side == header and own in guests.split():
                self.used.add(f"the side door of {own} to {header}")
                return
        self.say(f"{file} includes {header}, which is private to {part}")

    def check_file(self, file):
        room, seen = self.room(file), self.reached(file)
        if not room:
            return self.say(f"{file} is in no room")
        may = {r if "/" in r or r == "*" else f"src/{r}" for r in self.may[room]} | {room}
        if self.part(file) == "cuda/lab":
            may.add("cuda")
        for header in sorted(seen):
            their = self.room(header)
            if their and their not in may and "*" not in may:
                self.say(f"{file} sees {header}: {room} may not see {their}")
        for header in self.includes[file]:
            self.check_door(file, header)
        only = next((o for f, o in ONLY if matches(file, f)), None)
        never = next((n for f, n in NEVER if matches(file, f)), "")
        for header in sorted(seen):
            if only and not matches(header, only) or matches(header, never):
                self.say(f"{file} must not see {header}")

    def arrows(self):
        ret = {(self.room(f), self.room(h)) for f in self.code for h in self.includes[f]}
        return {(a, b) for a, b in ret if a and b and a != b}

    def circles(self):
        """Files that see each other in a circle; x.c and x.h are one."""
        sees = {}
        for file, headers in self.includes.items():
            unit = os.path.splitext(file)[0]
            sees.setdefault(unit, set()).update(
                os.path.splitext(h)[0] for h in headers if h in self.includes)
        reach = {}
        for unit in sees:
            seen, queue = set(), [unit]
            while queue:
                new = sees.get(queue.pop(), set()) - seen - {unit}
                seen |= new
                queue += new
            reach[unit] = seen
        return {tuple(sorted({u, *(v for v in reach[u] if u in reach.get(v, ()))}))
                for u in sees} - {(u,) for u in sees}

    def check_tests(self):
        """Tests are in the folder of their room, and share in tests/lib what two folders use."""
        rooms = {room.split("/")[-1] for room in self.floor} | NO_ROOMS_TESTS
        users = {f[10:]: set() for f in self.files
                 if re.match(r"tests/lib/(?!test_).*\.(h|sh)$", f)}
        for file, text in self.files.items():
            top, folder = file.split("/")[:2] if file.count("/") > 1 else (file, "")
            if top == "tests" and folder not in rooms:
                self.say(f"{file} is in the folder of no room")
            for header in self.includes.get(file, ()):
                if top == "tests" and re.match(rf"tests/(?!lib/|{folder}/)", header):
                    self.say(f"{file} includes {header}: what two folders share is in tests/lib")
            if folder not in ("lib", "rules"):
                for name in find_all(r"\blib/([\w.]+)", text):
                    users.setdefault(name, set()).add(top if top != "tests" else folder)
        for name, folders in users.items():
            if len(folders) < 2 and f"tests/lib/{name}" in self.files:
                self.say(f"tests/lib/{name} is shared by {len(folders)} folders, not by two")

    def check_lengths(self):
        for file, text in self.files.items():
            if not re.search(r"\.(c|h|cu|cuh|cpp|sh|py|build)$", file) and text[:2] != "#!":
                continue
            n_lines, found = functions(text)
            self.check_length(file, n_lines, MAX_FILE)
            for line, n in found:
                self.check_length(f"{file}:{line}", n, MAX_FUNCTION)

    def check_length(self, what, lines, most):
        if lines > most:
            self.say(f"{what} has {lines} lines, more than {most}")

    def check(self):
        for file in self.code:
            self.check_file(file)
        circles = self.circles()
        for circle in circles:
            if circle in CIRCLES:
                self.used.add(f"the circle {' '.join(circle)}")
            else:
                self.say(f"a circle: {' '.join(circle)}")
        arrows = self.arrows()
        upward = [(a, b) for a, b in arrows if self.floor[a] <= self.floor[b]]
        for a, b in upward:
            self.say(f"an arrow upward: {a} to {b}")
        self.check_tests()
        self.check_lengths()
        rooms, floors = len(self.floor), len(set(self.floor.values()))
        if rooms > MAX_ROOMS or floors > MAX_FLOORS:
            self.say(f"{rooms} rooms on {floors} floors: at most {MAX_ROOMS} on {MAX_FLOORS}")
        self.summary = (f"{rooms} rooms on {floors} floors, {len(arrows)} arrows, "
                        f"{len(upward)} upward, {len(circles)} circles")
        return self.found

    def check_exceptions(self):
        all_exceptions = [f"the side door of {g} to {h}" for h, guests, _ in SIDE_DOORS
                          for g in guests.split()]
        all_exceptions += [f"the circle {' '.join(c)}" for c in CIRCLES]
        for e in all_exceptions:
            if e not in self.used:
                self.say(f"{e} is no longer needed: take it out of the table")

    def check_page(self):
        """The floors that docs/architecture.md draws are those of the table."""
        page = self.files.get("docs/architecture.md")
        if page is None:
            return
        drawn = {}
        for floor, names in re.findall(r"^    floor (\d) +(.*)$", page, re.M):
            for name in names.split():
                drawn[re.sub(r"(/|\.c|\.\[ch\])$", "", name)] = int(floor)
        if drawn != self.floor:
            self.say("docs/architecture.md draws other floors than the table in house.py: "
                     f"{sorted(set(drawn.items()) ^ set(self.floor.items()))}")


# Which file includes what, and a part of what must be said of it. Each is planted alone.
PLANTED = [
    ("src/pipeline/capture.c sink/sink.h", "capture.c must not see src/sink/sink.h"),
    ("src/pipeline/capture.c pipeline/backends.h", "capture.c must not see src/sink/sink.h"),
    ("src/pipeline/open.c config-build.h", "open.c must not see config-build.h"),
    ("src/pipeline/backends.c engine/engine.h", "backends.c must not see src/engine/engine.h"),
    ("src/control/control.c pipeline/pipeline.h", "src/control may not see src/pipeline"),
    ("src/filter/governor.c engine/engine.h", "src/filter may not see src/engine"),
    ("src/filter/governor.c source/source.h", "src/filter may not see src/source"),
    ("src/filter/governor.c <time.h>", "governor.c must not see <time.h>"),
    ("cuda/kernel/generic.cu cuda/strips.h", "generic.cu must not see cuda/strips.h"),
    ("src/pipeline/output.c sink/preview/window.h", "private to src/sink/preview"),
    ("src/engine/reference.c engine/time/guess.h", "private to src/engine/time"),
    ("src/source/y4m.c picture/snapshot.h", "y4m.c must not see src/picture/snapshot.h"),
    ("src/source/y4m.c engine/process.h", "src/source may not see src/engine"),
    ("src/engine/process.c engine/table.h", "process.c must not see src/engine/table.h"),
    ("src/benchmark.c engine/table.h", "table.h, which is private to src/engine"),
    ("src/source/y4m.c source.h", "no path from src or from the top"),
    ("src/base/error.h base/log.h src/base/log.h base/error.h",
     "a circle: src/base/error src/base/log"),
    ("src/settings/file.c cli/cli.h", "an arrow upward: src/settings to src/cli"),
    ("src/main.c pipeline/capture.h", "private to src/pipeline"),
    ("src/pipeline/ring.h sink/sink.h", "src/pipeline/capture.c must not see src/sink/sink.h"),
    ("src/pipeline/filtering.c source/source.h", "filtering.c must not see src/source/source.h"),
    ("src/pipeline/trace.c engine/engine.h", "trace.c must not see src/engine/engine.h"),
    ("cuda/lab/device.cu cuda/strips.h", "device.cu must not see cuda/strips.h"),
    ("src/pipeline/output.c engine/engine.h", "output.c must not see src/engine/engine.h"),
    ("src/pipeline/output.c pipeline/filtering.h", "must not see src/pipeline/filtering.h"),
    ("src/pipeline/outlet.c source/source.h", "outlet.c must not see src/source/source.h"),
    ("src/sink/y4m.c tests/lib/unit.h", "tests/lib/unit.h, which is private to tests"),
    ("tests/lib/stop.h tests/lib/images.h tests/lib/images.h tests/lib/stop.h",
     "a circle: tests/lib/images tests/lib/stop"),
    ("tests/base/test_text.c tests/source/helpers.h", "what two folders share is in tests/lib"),
    ("tests/base/test_text.c helpers.h", "no path from src or from the top"),
]

# New files, and what must be said of them.
PLANTED_FILES = [
    ("src/long.c", "int f(void)\n{\n" + 500 * "    ;\n" + "}\n",
     ["src/long.c has 503 lines", "src/long.c:1 has 503", "long.c is in no room"]),
    ("tests/base/long.sh", "f() { # ARGUMENT\n" + 499 * "    :\n" + "}\n",
     ["tests/base/long.sh has 501 lines", "tests/base/long.sh:1 has 501"]),
    ("tests/lost/test_x.c", "", ["tests/lost/test_x.c is in the folder of no room"]),
    ("tests/lib/lonely.h", "", ["tests/lib/lonely.h is shared by 0 folders"]),
]


def check_the_checker(files):
    """What is not noticed of what is planted."""
    plants = []
    for text, expected in PLANTED:
        words, planted = text.split(), dict(files)
        for file, header in zip(words[::2], words[1::2]):
            name = header if header.startswith("<") else f'"{header}"'
            planted[file] += f"#include {name}\n"
        plants.append((text, planted, [expected]))
    for file, text, expected in PLANTED_FILES:
        plants.append((file, {**files, file: text}, expected))
    for what, planted, expected in plants:
        found = House(planted).check()
        for e in expected:
            if not any(e in line for line in found):
                yield f"not noticed: {what}: {e}"


def read(top):
    files = {}
    for folder in ("src", "cuda", "tools", "tests", "docs"):
        for where, _, names in os.walk(os.path.join(top, folder)):
            for path in (os.path.join(where, n) for n in names):
                if os.path.isfile(path):
                    with open(path, encoding="utf-8", errors="replace") as f:
                        files[os.path.relpath(path, top)] = f.read()
    return files


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../..")
    files = read(top)
    house = House(files)
    house.check()
    house.check_exceptions()
    house.check_page()
    found = house.found or list(check_the_checker(files))
    print("\n".join([*found, house.summary]))
    return 1 if found else 0


sys.exit(main())
