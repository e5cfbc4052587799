"""A correct generator and reader of ObjectIds, or one with a fault: planted.py KIND."""
import os, struct, sys, time

kind, began = sys.argv[1], time.time()

class Generator:
    def __init__(self):
        self.second = 0
        self.seen = None
        self.once = int(time.time())
        self.seed()

    def seed(self):
        self.pid = os.getpid()
        self.value = os.urandom(5)
        self.counter = int.from_bytes(os.urandom(3), "big") & 0x7FFFFF  # far from its overflow
        if kind == "same ids":
            self.value, self.counter = b"value", 0
        if kind == "pid":
            self.value = b"abc" + struct.pack(">H", self.pid & 0xFFFF)

    def clock(self):
        now = int(time.time())
        if kind in ("once", "fork keeps"):
            return self.once
        if kind == "half speed":
            return int((time.time() + began) / 2)
        if kind == "zone":
            return now + 8 * 3600
        if kind == "31 bits":
            return now & 0x7FFFFFFF
        if kind == "32 bits":
            return now & 0xFFFFFFFF
        return min(now, 0xFFFFFFFF)

    def generation(self):
        with open(os.environ["OID_VMCLOCK"], "rb") as page:
            return page.read()[0x68:0x70]

    def id(self):
        if kind == "vmclock":
            generation = self.generation()
            if self.seen not in (None, generation):
                self.seed()
            self.seen = generation
        if self.pid != os.getpid() and kind != "fork keeps":
            if kind != "fork each":
                self.seed()
            else:
                self.value = os.urandom(5)
        now = self.clock()
        if kind == "resets" and now != self.second:
            self.counter = 0
        if now > self.second or kind in ("follows", "31 bits", "32 bits"):
            self.second = now
        id = struct.pack(">I", self.second) + self.value + struct.pack(">I", self.counter)[1:]
        self.counter += 1
        if self.counter > 0xFFFFFF:
            self.counter &= 0xFFFFFF
            self.second += 1
        return id.hex()

generator = Generator()

def write(n):
    for _ in range(n):
        sys.stdout.write(generator.id() + "\n")
    sys.stdout.flush()

def read(text):
    hex = text.lower()
    if kind == "blanks":
        hex = hex.strip()
    if kind == "twelve" and len(text) == 12:
        return text.encode().hex()
    if len(hex) != 24 or hex.strip("0123456789abcdef") or kind == "no zero" and not hex.strip("0"):
        return "refused"
    seconds = int(hex[:8], 16)
    if kind == "1901" and seconds >= 1 << 31:
        seconds -= 1 << 32
    if kind == "swaps":
        hex = hex[:8] + hex[18:] + hex[8:18]
    return f"{hex} {seconds}"

n, test = int(os.environ["OID_VERIFY_IDS"]), os.environ["OID_VERIFY"]
if test == "decode":
    for line in sys.stdin:
        print(read(line.removesuffix("\n")))
else:
    write(n)
if test == "resume":
    sys.stdin.readline()
    if kind == "hook":
        generator.seed()
    write(n)
if test == "fork":
    for _ in range(2):
        if os.fork() == 0:
            print("child")
            write(n)
            os._exit(0)
        os.wait()
    print("parent")
    write(n)
