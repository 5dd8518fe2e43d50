/* template.h - the body of a webhook: a JSON text whose strings contain ${NAME}.
 *
 * Pure.  The text is parsed before values are filled in, so that a value can neither end a string nor add a
 * member. A string that consists of one ${NAME} becomes the value itself (a number, an object, null); within
 * a longer string the value is inserted as text.  Members and elements that become "" or null stay; an
 * unknown name is an error. */
#ifndef SYNCGUARD_ACTIONS_TEMPLATE_H
#define SYNCGUARD_ACTIONS_TEMPLATE_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"

#define TEMPLATE_MAX (64u << 10) /* bytes of a template */

/* The built-in template of that name: generic, slack, alertmanager, pagerduty; NULL: there is none. */
const char *template_builtin(const char *name);
/* Write the names of the built-in templates to buf: "generic, slack, ..."; returns buf. */
char *template_names(char *buf, size_t size);

/* Fill in a template; the caller frees the text; NULL with a reason. values: an object whose keys are the
 * names. */
char *template_fill(const char *text, const json_t *values, struct err *err);
/* Whether the template uses ${name}. */
bool template_uses(const char *text, const char *name);

#endif
