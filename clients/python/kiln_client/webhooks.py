"""Webhooks: Standard Webhooks, as docs/webhooks.md says."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Mapping, Union

from .errors import KilnError

#: How far clocks may differ, and how long a message may be on its way, in seconds.
TOLERANCE = 300


def verify_webhook(body: Union[str, bytes], headers: Mapping[str, str], secret: str) -> Mapping[str, Any]:
    """Checks the signature of a webhook and answers what it says. Raises BAD_SIGNATURE when it is forged or old."""
    lower = {name.lower(): value for name, value in headers.items()}
    sent_at = lower.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > TOLERANCE:
        raise KilnError("BAD_SIGNATURE", "no timestamp, or an old one")
    text = body if isinstance(body, bytes) else body.encode()
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise KilnError("BAD_SIGNATURE", "a secret that is no base64") from error
    signed = f"{lower.get('webhook-id', '')}.{sent_at}.".encode() + text
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    signatures = lower.get("webhook-signature", "").split(" ")
    if not any(hmac.compare_digest(wanted.encode(), one.encode()) for one in signatures):
        raise KilnError("BAD_SIGNATURE", "no signature by this secret")
    return json.loads(text)
