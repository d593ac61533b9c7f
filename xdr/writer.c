#include "xdr/writer.h"

static void put_padded(uint8_t *room, struct bytes value)
{
    if (value.len == 0)
        return;
    memcpy(room, value.data, value.len);
    memset(room + value.len, 0, bytes_padding(value.len));
}

void writer_fixed(struct writer *w, struct bytes value)
{
    uint8_t *room = writer_room(w, (uint64_t)value.len + bytes_padding(value.len));
    if (room)
        put_padded(room, value);
}

void writer_opaque(struct writer *w, struct bytes value)
{
    uint64_t need = sizeof(uint32_t) + (uint64_t)value.len + bytes_padding(value.len);
    uint8_t *room = writer_room(w, need);
    if (!room)
        return;
    bytes_store_u32(room, value.len);
    put_padded(room + sizeof(uint32_t), value);
}

void writer_raw(struct writer *w, const uint8_t *data, uint32_t len)
{
    uint8_t *room = writer_room(w, len);
    if (room && len > 0)
        memcpy(room, data, len);
}
