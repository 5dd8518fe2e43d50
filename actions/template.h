/* template.h - what a webhook is sent: a JSON text whose strings hold ${NAME}.
 *
 * Pure.  The text is parsed first and filled in then, so what is filled in can neither end a string nor add a
 * member.  A string that is nothing but ${NAME} becomes the value itself (a number, an object, null); within
 * a longer string a value is written out.  Members and elements that become "" or null stay; an unknown name
 * is an error that names it. */
#ifndef SYNCGUARD_ACTIONS_TEMPLATE_H
#define SYNCGUARD_ACTIONS_TEMPLATE_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"

#define TEMPLATE_MAX (64u << 10) /* bytes of a template */

/* The built-in one of that name: generic, slack, alertmanager, pagerduty; NULL: there is none. */
const char *template_builtin(const char *name);
/* "generic, slack, ..." into buf; returns buf. */
char *template_names(char *buf, size_t size);

/* The text, the caller's; NULL with the reason. values: an object, its keys are the names. */
char *template_fill(const char *text, const json_t *values, struct err *err);
/* Does it use the value? */
bool template_uses(const char *text, const char *name);

#endif
