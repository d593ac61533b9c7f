/*
 * nfsd_put: the model server's own writer of XDR (RFC 4506): what the proxy's decoders read was not written by the
 * proxy's encoders. Only nfsd*.c include this.
 *
 * What is written always fits: replies are bounded where they are made.
 */
#ifndef SIM_NFSD_PUT_H
#define SIM_NFSD_PUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct put {
    uint8_t *at;
    uint8_t *end;
};

static inline uint8_t *put_room(struct put *put, size_t len)
{
    assert((size_t)(put->end - put->at) >= len);
    uint8_t *room = put->at;
    put->at += len;
    return room;
}

static inline void put_u32(struct put *put, uint32_t value)
{
    uint8_t *room = put_room(put, 4);
    room[0] = (uint8_t)(value >> 24);
    room[1] = (uint8_t)(value >> 16);
    room[2] = (uint8_t)(value >> 8);
    room[3] = (uint8_t)value;
}

static inline void put_u64(struct put *put, uint64_t value)
{
    put_u32(put, (uint32_t)(value >> 32));
    put_u32(put, (uint32_t)value);
}

/* The length, then so many octets to be filled; their padding is zero. */
static inline uint8_t *put_opaque_room(struct put *put, uint32_t len)
{
    put_u32(put, len);
    uint8_t *room = put_room(put, ((size_t)len + 3) / 4 * 4);
    memset(room + len, 0, (size_t)(put->at - room) - len);
    return room;
}

static inline void put_opaque(struct put *put, const void *data, uint32_t len)
{
    memcpy(put_opaque_room(put, len), data, len);
}

#endif
