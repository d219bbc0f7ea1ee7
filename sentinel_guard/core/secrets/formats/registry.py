"""The list of all secret formats, by family."""

from __future__ import annotations

from sentinel_guard.core.secrets.formats import (
    ai,
    cloud,
    infrastructure,
    keys,
    messaging,
    monitoring,
    other_services,
    packages,
    payments,
    social,
    source_hosting,
)
from sentinel_guard.core.secrets.model import Format

FORMATS: tuple[Format, ...] = (
    *ai.FORMATS,
    *cloud.FORMATS,
    *source_hosting.FORMATS,
    *infrastructure.FORMATS,
    *keys.FORMATS,
    *messaging.FORMATS,
    *monitoring.FORMATS,
    *packages.FORMATS,
    *payments.FORMATS,
    *other_services.FORMATS,
    *social.FORMATS,
)
