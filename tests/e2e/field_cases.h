/*
 * field_cases: the field's cases. K01 and so on are names that the field's failures have in this project; the comment at
 * each says what it protects.
 */
#ifndef E2E_FIELD_CASES_H
#define E2E_FIELD_CASES_H

#include "e2e/field_scene.h"

#define IN(service)   (1u << (service))
#define IN_BOTH_MODES (IN(FIELD_SHARED) | IN(FIELD_EXCLUSIVE))

struct field_case {
    const char *name;
    unsigned services; /* it is run in each, with a scene of its own */
    void (*run)(struct scene *scene);
};

/* Each ends with an entry of zeros. */
extern const struct field_case field_coherence[];
extern const struct field_case field_behind[];
extern const struct field_case field_access[];
extern const struct field_case field_handle[];
extern const struct field_case field_directory[];

/* Every mutation, with everything that a server may make of it, against everything that is cached. A line each. */
void field_matrix(struct field *field);

#endif
