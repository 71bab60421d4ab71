"""Kiln's client: `Kiln` waits, `AsyncKiln` is awaited; both have the same words."""

from . import models
from .async_client import AsyncKiln
from .client import Kiln, is_ended
from .errors import KilnError, KilnErrorCode
from .webhooks import verify_webhook

__all__ = ["AsyncKiln", "Kiln", "KilnError", "KilnErrorCode", "is_ended", "models", "verify_webhook"]
