#include "config/settings_error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define QUOTE_MAX 60u
/* What a message shows of a long path: its end. The rest of the error must still find room. */
#define FILE_MAX 96u

static void hide_control_characters(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

struct settings_quote settings_quote(const char *text)
{
    struct settings_quote quote;
    size_t len = strnlen(text, QUOTE_MAX + 1);
    bool cut = len > QUOTE_MAX;

    if (cut)
        len = QUOTE_MAX;
    /* Not within a UTF-8 character. */
    while (cut && len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    memcpy(quote.text, text, len);
    memcpy(quote.text + len, "...", 4);
    if (!cut)
        quote.text[len] = '\0';
    return quote;
}

void settings_cause_set(struct settings_cause *cause, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(cause->text, sizeof(cause->text), format, args);
    va_end(args);
}

int settings_error_set(struct settings_error *error, const char *file, unsigned line,
                       const char *key, const char *cause)
{
    size_t file_len = strlen(file);
    bool cut = file_len > FILE_MAX;
    char place[16] = "";

    if (line > 0)
        (void)snprintf(place, sizeof(place), ":%u", line);
    (void)snprintf(error->text, sizeof(error->text), "%s%s%s: %s%s%s", cut ? "..." : "",
                   cut ? file + file_len - FILE_MAX : file, place, key ? key : "", key ? ": " : "",
                   cause);
    hide_control_characters(error->text);
    return -EINVAL;
}
