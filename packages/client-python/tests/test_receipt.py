from __future__ import annotations

import unittest
from typing import Any, cast
from unittest.mock import patch

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from vendor_verification import Client, ReceiptError, check_receipt, models

from .scripted_server import answer_text, scripted

CLAIMS = {"iss": "https://api.example.com", "sub": "ver_1", "iat": 1_795_246_939, "environment": "live", "later": 1}
HEADER = {"typ": "verification-receipt+jwt", "kid": "k2"}


def key_of(seed: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)


def public(kid: str, seed: int) -> models.ReceiptKeysKey:
    raw = key_of(seed).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    x = jwt.utils.base64url_encode(raw).decode()
    return {"kty": "OKP", "crv": "Ed25519", "x": x, "kid": kid, "use": "sig", "alg": "EdDSA"}


def sign(seed: int = 2, claims: dict[str, Any] = CLAIMS, **header: str) -> str:
    return jwt.encode(claims, key_of(seed), "EdDSA", {**HEADER, **header})


KEYS: models.ReceiptKeys = {"keys": [public("k2", 2), public("k1", 1)]}


class Receipts(unittest.TestCase):
    def test_a_receipt_of_the_newest_key_says_what_it_proves_and_so_does_one_of_a_retired_key(self) -> None:
        self.assertEqual(check_receipt(sign(), KEYS), CLAIMS)
        self.assertEqual(check_receipt(sign(1, kid="k1") + "\n", KEYS), CLAIMS)

    def test_a_receipt_does_not_depend_on_the_clock_of_this_machine(self) -> None:
        later = {**CLAIMS, "iat": 99_999_999_999}
        self.assertEqual(check_receipt(sign(claims=later), KEYS), later)

    def test_a_text_that_was_altered_or_signed_by_somebody_else_proves_nothing(self) -> None:
        header, payload, signature = sign().split(".")
        other = sign(claims={**CLAIMS, "sub": "ver_2"}).split(".")[1]
        secret = jwt.utils.base64url_decode(KEYS["keys"][0]["x"])
        forged = {
            "altered payload": f"{header}.{other}.{signature}",
            "altered header": f"{sign(kid='k1').split('.')[0]}.{payload}.{signature}",
            "another key with the same id": sign(3),
            "unknown key": sign(9, kid="k9"),
            "another type": sign(typ="JWT"),
            "no signature": jwt.encode(CLAIMS, "", "none", HEADER),
            "the public key as a secret": jwt.encode(CLAIMS, secret, "HS256", HEADER),
            "cut off": f"{header}.{payload}",
            "empty": "",
        }
        for name, text in forged.items():
            with self.subTest(name), self.assertRaises(ReceiptError):
                check_receipt(text, KEYS)

    def test_keys_that_are_no_key_set_are_refused(self) -> None:
        unusable: list[object] = [{}, {"keys": []}, {"keys": "k1"}, []]
        for keys in unusable:
            with self.subTest(keys), self.assertRaises(ValueError):
                check_receipt(sign(), cast(models.ReceiptKeys, keys))

    def test_without_the_extra_the_error_says_what_to_install(self) -> None:
        with patch.dict("sys.modules", {"jwt": None}), self.assertRaisesRegex(ImportError, r"\[receipts\]"):
            check_receipt(sign(), KEYS)

    def test_the_client_returns_the_receipt_as_a_text(self) -> None:
        with scripted(answer_text(200, "a.b.c")) as server:
            self.assertEqual(Client(server.url, "svc_test_key").get_receipt("ver_1"), "a.b.c")
            self.assertEqual(server.lines, ["GET /v1/verifications/ver_1/receipt"])
            self.assertEqual(server.requests[0].headers["accept"], "application/jwt, application/json")


if __name__ == "__main__":
    unittest.main()
