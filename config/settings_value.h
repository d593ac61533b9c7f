/*
 * settings_value: one value between its text and its member, as its row in the table says.
 *
 * `base` is the struct that the row's section fills: a struct settings, or a struct
 * settings_service.
 */
#ifndef CONFIG_SETTINGS_VALUE_H
#define CONFIG_SETTINGS_VALUE_H

#include "config/settings_error.h"
#include "config/settings_table.h"

/*
 * Parses the text and replaces what the member held. 0; -EINVAL with the cause; -ENOMEM. On failure
 * the member is as before. Defaults take the same way.
 */
int settings_value_set(const struct settings_row *row, const char *text, void *base,
                       struct settings_cause *cause);

/* Frees what the member owns. */
void settings_value_clear(const struct settings_row *row, void *base);

bool settings_value_equal(const struct settings_row *row, const void *a, const void *b);

/* What a value of the row looks like, for messages and the reference: "a duration (such as 500ms,
 * 3s, 1m)". */
const char *settings_value_kind(const struct settings_row *row);

#endif
