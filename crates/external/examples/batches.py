"""A player that needs the same time for one request as for many, as a network does on a GPU.

python3 batches.py PARALLEL SECONDS: it holds PARALLEL games, and answers all requests at hand after SECONDS.
"""

import json
import queue
import random
import sys
import threading
import time

parallel, seconds = int(sys.argv[1]), float(sys.argv[2])
messages = queue.SimpleQueue()


def read():
    for line in sys.stdin:
        messages.put(json.loads(line))
    messages.put(None)


def requests_at_hand(first):
    """The first request with those that come within a few milliseconds: games ask again after each answer."""
    batch = [first]
    until = time.monotonic() + 0.003
    while len(batch) < parallel:
        try:
            message = messages.get(timeout=max(until - time.monotonic(), 0))
        except queue.Empty:
            break
        if message is None:
            sys.exit()
        if "legal" in message:
            batch.append(message)
    return batch


threading.Thread(target=read, daemon=True).start()
while (message := messages.get()) is not None:
    if "spelrum" in message:
        print(json.dumps({"name": "batches", "parallel": parallel}), flush=True)
    elif "legal" in message:
        batch = requests_at_hand(message) if parallel > 1 else [message]
        time.sleep(seconds)
        answers = []
        for request in batch:
            move = random.Random(request["seed"]).choice(request["legal"])
            answers.append(json.dumps({"id": request["id"], "move": move}))
        print("\n".join(answers), flush=True)
