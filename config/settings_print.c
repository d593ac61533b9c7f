#include "config/settings_table.h"
#include "config/settings_value.h"

#include <string.h>

#define EXAMPLE_SERVICE "home"
#define KEY_WIDTH       13
#define VALUE_WIDTH     21

static void print_heading(FILE *out, enum settings_section section)
{
    if (section == SETTINGS_SECTION_SERVICE)
        (void)fprintf(out,
                      "\n# One listener in front of one server; any number of services.\n[%s %s]\n",
                      settings_section_name(section), EXAMPLE_SERVICE);
    else
        (void)fprintf(out, "\n[%s]\n", settings_section_name(section));
}

void settings_print_example(FILE *out)
{
    (void)fprintf(
        out,
        "# nfsaccel's configuration: every key with the value that it has if it is not given.\n"
        "# Only `server` has none. Comments start with # or ;, and a \\ at the end of a line\n"
        "# continues it in the next one. `nfsaccel serve -c FILE --check` tells what is wrong.\n");
    for (unsigned i = 0; i < SETTINGS_ROWS; i++) {
        const struct settings_row *row = &settings_rows[i];

        if (i == 0 || row->section != row[-1].section)
            print_heading(out, row->section);
        (void)fprintf(out, "%-*s = %-*s # %s\n", KEY_WIDTH, row->key, VALUE_WIDTH, row->standard,
                      row->help);
    }
}

static void print_values(FILE *out, const struct settings_row *row)
{
    for (unsigned i = 0; row->words && row->words[i]; i++)
        (void)fprintf(out, "%s`%s`", i > 0 ? ", " : "", row->words[i]);
    if (row->words)
        return;
    (void)fprintf(out, "%s", settings_value_kind(row));
    if (row->min)
        (void)fprintf(out, ", %s to %s", row->min, row->max);
}

void settings_print_reference(FILE *out)
{
    for (unsigned i = 0; i < SETTINGS_ROWS; i++) {
        const struct settings_row *row = &settings_rows[i];

        if (i == 0 || row->section != row[-1].section)
            (void)fprintf(out,
                          "%s### `%s`\n\n"
                          "| key | default | value | meaning | reload |\n"
                          "| --- | --- | --- | --- | --- |\n",
                          i > 0 ? "\n" : "", settings_section_heading(row->section));
        if (row->required)
            (void)fprintf(out, "| `%s` | (required) | ", row->key);
        else if (*row->standard == '\0')
            (void)fprintf(out, "| `%s` | (empty) | ", row->key);
        else
            (void)fprintf(out, "| `%s` | `%s` | ", row->key, row->standard);
        print_values(out, row);
        (void)fprintf(out, " | %s | %s |\n", row->help, row->restart ? "restart" : "live");
    }
}
