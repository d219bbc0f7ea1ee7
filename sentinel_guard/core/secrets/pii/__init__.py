"""Personal data (PII): payment cards, IBANs, national ids, phone numbers, e-mail addresses."""
