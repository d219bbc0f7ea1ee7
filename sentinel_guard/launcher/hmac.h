/* HMAC-SHA-256 (RFC 2104, FIPS 180-4): how the daemon proves that it knows the session's secret. */
#ifndef SENTINEL_HMAC_H
#define SENTINEL_HMAC_H

#include <stddef.h>

enum { DIGEST = 32 };

/* The key has at most 64 bytes. */
void hmac(const void *key, size_t key_size, const void *data, size_t size, unsigned char out[DIGEST]);

#endif
