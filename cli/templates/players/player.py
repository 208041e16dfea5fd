"""A player of any game over the protocol of lines (docs/lines.md), without packages."""

import json
import random
import sys


def choose(request):
    """The move to make: one of request["legal"].

    request["position"] and request["moves"] say where the game is, request["limits"] what the move may take. Random
    numbers that follow from request["seed"] repeat on any machine.
    """
    return random.Random(request["seed"]).choice(request["legal"])


def send(answer):
    print(json.dumps(answer, allow_nan=False), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    if "spelrum" in message:
        send({"name": "PLAYER", "version": "1"})
    elif "legal" in message:
        send({"id": message["id"], "move": choose(message)})
