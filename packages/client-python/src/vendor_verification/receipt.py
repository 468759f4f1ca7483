"""Checking of receipts."""

from __future__ import annotations

from typing import Any, TypedDict, cast

from .models import CheckType, EvidenceSource, ReceiptKeys, Verification


class ReceiptEvidence(TypedDict):
    """What a result rests on."""

    id: str
    check_type: CheckType
    sha256: str
    sources: list[EvidenceSource]


class Receipt(TypedDict):
    """What a receipt proves. Fields that are newer than this client are there too."""

    iss: str
    """Address of the service that signed it."""
    sub: str
    """Id of the verification."""
    iat: int
    """When the verification was created, in Unix seconds."""
    environment: str
    """`live`, or `sandbox`: then it proves nothing about a real vendor."""
    verification: Verification
    """As GET returns it."""
    evidence: list[ReceiptEvidence]
    """In the order of the results. Evidence that was no longer kept when the receipt was made is absent."""


class ReceiptError(Exception):
    """The text proves nothing: it is no receipt, was altered, or was not signed with one of the keys."""


def check_receipt(text: str, keys: ReceiptKeys) -> Receipt:
    """Returns what a receipt says, if it was signed with one of these keys and not altered. Needs no connection.

    Take the keys from the service, never from the sender of the receipt. Raises ReceiptError; ImportError without the
    extra `receipts` of this package; ValueError for unusable keys.
    """
    try:
        import cryptography  # PyJWT leaves out keys of this kind without it
        import jwt
    except ImportError as error:
        raise ImportError("pip install 'vendor-verification[receipts]' installs what checks receipts") from error
    try:
        known = {key.key_id: key for key in jwt.PyJWKSet.from_dict(cast("dict[str, Any]", keys)).keys}
    except (jwt.PyJWTError, AttributeError, TypeError) as error:
        raise ValueError("keys must be a JSON Web Key Set with keys, as get_receipt_keys returns it") from error
    receipt = text.strip()
    # A receipt stays valid, whatever the clock of this machine says.
    timeless = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False}
    try:
        header = jwt.get_unverified_header(receipt)
        if header.get("typ") != "verification-receipt+jwt" or header.get("alg") != "EdDSA":
            raise ReceiptError("This is not a receipt of the service.")
        key = known.get(header.get("kid"))
        if key is None:
            raise ReceiptError("The receipt was signed with a key that is not among these keys.")
        return cast(Receipt, jwt.decode(receipt, key, algorithms=["EdDSA"], options=cast(Any, timeless)))
    except jwt.InvalidSignatureError as error:
        raise ReceiptError(
            "The receipt was altered, or was not signed by the service: its signature is wrong."
        ) from error
    except jwt.PyJWTError as error:
        raise ReceiptError("This is not a receipt of the service.") from error
