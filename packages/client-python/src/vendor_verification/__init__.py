"""Client of the Vendor Verification Service. `models` has the types of all requests and answers."""

from standardwebhooks import WebhookVerificationError

from . import models
from .client import Client
from .errors import ApiConnectionError, ApiError, ApiTimeoutError, VendorVerificationError
from .receipt import Receipt, ReceiptError, check_receipt
from .transport import Response
from .version import VERSION
from .webhook import VerifiedWebhook, verify_webhook

__version__ = VERSION
__all__ = [
    "ApiConnectionError",
    "ApiError",
    "ApiTimeoutError",
    "Client",
    "Receipt",
    "ReceiptError",
    "Response",
    "VendorVerificationError",
    "VerifiedWebhook",
    "WebhookVerificationError",
    "check_receipt",
    "models",
    "verify_webhook",
]
