"""Verification of webhooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from standardwebhooks import Webhook, WebhookVerificationError

from .models import MonitorChangeDetected


@dataclass(frozen=True)
class VerifiedWebhook:
    """A webhook that was signed with one of the secrets."""

    id: str
    """The event's id, the same on every attempt: remember it to handle an event once."""
    payload: MonitorChangeDetected


def verify_webhook(
    body: bytes | str, headers: Mapping[str, str], secrets: str | Sequence[str]
) -> VerifiedWebhook:
    """Returns the event of a webhook that was signed with one of the secrets in the last five minutes.

    `body` is the body as received, not parsed JSON. Several secrets can be given, for a rotation without a gap. Raises
    WebhookVerificationError: answer 400 and do nothing else with the request.
    """
    given = [secrets] if isinstance(secrets, str) else list(secrets)
    if not given:
        raise ValueError("secrets must contain at least one secret")
    received = {name.lower(): value for name, value in headers.items()}
    refused = WebhookVerificationError("No signature of the request fits a secret.")
    for webhook in [Webhook(secret) for secret in given]:
        try:
            payload = webhook.verify(body, received)
        except WebhookVerificationError as error:
            refused = error
        except ValueError as error:
            # The library lets through what it meets in headers and bodies that nobody signed.
            refused = WebhookVerificationError("The request is malformed.")
            refused.__cause__ = error
        else:
            return VerifiedWebhook(received["webhook-id"], payload)
    raise refused
