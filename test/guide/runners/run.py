import json
import sys

import receiver
import stripe_receiver

VERIFIERS = {"standard": receiver.verify, "service": stripe_receiver.verify}


def answer(case):
    try:
        event = VERIFIERS[case["scheme"]](case["body"].encode(), case["headers"], case["secret"])
        return event["event"] == "monitor.change_detected"
    except Exception:
        return False


with open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps([answer(case) for case in json.load(file)]))
