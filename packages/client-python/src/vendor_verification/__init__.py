"""Client of the Vendor Verification Service. `models` has the types of all requests and answers."""

from standardwebhooks import WebhookVerificationError

from . import models
from .client import Client
from .errors import ApiConnectionError, ApiError, ApiTimeoutError, VendorVerificationError
from .transport import Response
from .version import VERSION
from .webhook import VerifiedWebhook, verify_webhook

__version__ = VERSION
__all__ = [
    "ApiConnectionError",
    "ApiError",
    "ApiTimeoutError",
    "Client",
    "Response",
    "VendorVerificationError",
    "VerifiedWebhook",
    "WebhookVerificationError",
    "models",
    "verify_webhook",
]
