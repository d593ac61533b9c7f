/* Prints what the table of settings says: as the example file, or as the README's reference. */
#include "config/settings.h"

#include <string.h>

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "example") == 0)
        settings_print_example(stdout);
    else if (argc == 2 && strcmp(argv[1], "reference") == 0)
        settings_print_reference(stdout);
    else
        return fprintf(stderr, "usage: nfsaccel_settings_doc example | reference\n") < 0 ? 1 : 2;
    return fflush(stdout) == 0 ? 0 : 1;
}
