import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from vendor_verification import WebhookVerificationError, verify_webhook


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            event = verify_webhook(body, dict(self.headers), os.environ["WEBHOOK_SECRET"])
            print("Verified:", event.id, event.payload, flush=True)
            self.send_response(204)
        except WebhookVerificationError as error:
            print("Refused:", error, flush=True)
            self.send_response(400)
        self.end_headers()


HTTPServer(("", int(os.environ["PORT"])), Receiver).serve_forever()
