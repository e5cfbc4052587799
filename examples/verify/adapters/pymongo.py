"""Lets examples/verify judge the ids of pymongo (package bson): pymongo.py [hook]."""
import os, sys
from bson.objectid import ObjectId

def write(n):
    for _ in range(n):
        print(ObjectId())
    sys.stdout.flush()

def read(line):
    try:
        id = ObjectId(line)
        return f"{id} {int(id.generation_time.timestamp())}"
    except Exception:
        return "refused"

n, test = int(os.environ["OID_VERIFY_IDS"]), os.environ["OID_VERIFY"]
if test == "decode":
    for line in sys.stdin:
        print(read(line.removesuffix("\n")))
else:
    write(n)
if test == "resume":
    sys.stdin.readline()
    if "hook" in sys.argv:
        ObjectId._pid = None
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
