"""All formats, by family."""

from __future__ import annotations

from sentinel_guard.core.leaks.base import Format
from sentinel_guard.core.leaks.formats import (
    ai,
    cloud,
    hosting,
    infrastructure,
    keys,
    messaging,
    monitoring,
    packages,
    payments,
    services,
    social,
)

FORMATS: tuple[Format, ...] = (
    *ai.FORMATS,
    *cloud.FORMATS,
    *hosting.FORMATS,
    *infrastructure.FORMATS,
    *keys.FORMATS,
    *messaging.FORMATS,
    *monitoring.FORMATS,
    *packages.FORMATS,
    *payments.FORMATS,
    *services.FORMATS,
    *social.FORMATS,
)
