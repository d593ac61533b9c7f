/*
 * packed: numbers that are kept in fewer octets than a word has. Stamps take 48 bits (nine years at
 * a million events a second), times 40 bits of milliseconds (34 years).
 */
#ifndef CACHE_PACKED_H
#define CACHE_PACKED_H

#include <stdint.h>
#include <string.h>

static inline uint64_t packed_get48(const uint8_t p[6])
{
    uint32_t low;
    uint16_t high;
    memcpy(&low, p, sizeof(low));
    memcpy(&high, p + 4, sizeof(high));
    return low | (uint64_t)high << 32;
}

static inline void packed_put48(uint8_t p[6], uint64_t value)
{
    uint32_t low = (uint32_t)value;
    uint16_t high = (uint16_t)(value >> 32);
    memcpy(p, &low, sizeof(low));
    memcpy(p + 4, &high, sizeof(high));
}

static inline uint64_t packed_get40(const uint8_t p[5])
{
    uint32_t low;
    memcpy(&low, p, sizeof(low));
    return low | (uint64_t)p[4] << 32;
}

static inline void packed_put40(uint8_t p[5], uint64_t value)
{
    uint32_t low = (uint32_t)value;
    memcpy(p, &low, sizeof(low));
    p[4] = (uint8_t)(value >> 32);
}

#endif
