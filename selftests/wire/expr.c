// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Names, numbers and arguments of statements. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "wire.h"

why_t wt_set(struct wt_vars *v, const char *name, uint64_t value)
{
	int i;

	for (i = 0; i < v->n && strcmp(v->name[i], name); i++)
		;
	CHECK(i < WT_VARS, "too many names");
	if (i == v->n)
		snprintf(v->name[v->n++], WT_NAME, "%s", name);
	v->value[i] = value;
	return NULL;
}

static const struct {
	const char *name;
	uint64_t factor;
} units[] = { { "us", 1 }, { "ms", 1000 }, { "s", 1000000 }, { "k", 1024 } };

static why_t number(const char **p, uint64_t *to)
{
	char unit[8];
	char *end;
	size_t n = 0;

	*to = strtoull(*p, &end, 0);
	while (isalpha(end[n]) && n < sizeof(unit) - 1)
		n++;
	memcpy(unit, end, n);
	unit[n] = 0;
	*p = end + n;
	if (!n)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!strcmp(unit, units[i].name)) {
			*to *= units[i].factor;
			return NULL;
		}
	}
	return because("'%s' is no unit", unit);
}

static why_t variable(const struct wt_vars *v, const char **p, uint64_t *to)
{
	char name[WT_NAME];
	size_t n = 0;

	while ((isalnum((*p)[n]) || (*p)[n] == '_' || (*p)[n] == '.') &&
	       n < sizeof(name) - 1)
		n++;
	memcpy(name, *p, n);
	name[n] = 0;
	*p += n;
	for (int i = 0; i < v->n; i++) {
		if (!strcmp(v->name[i], name)) {
			*to = v->value[i];
			return NULL;
		}
	}
	return because("'%s' is not defined", name);
}

static why_t sum(const struct wt_vars *v, const char **p, uint64_t *to);

static why_t factor(const struct wt_vars *v, const char **p, uint64_t *to)
{
	if (**p == '(') {
		++*p;
		TRY(sum(v, p, to));
		CHECK(**p == ')', "')' is missing");
		++*p;
		return NULL;
	}
	if (**p == '-') {
		++*p;
		TRY(factor(v, p, to));
		*to = -*to;
		return NULL;
	}
	if (isdigit(**p))
		return number(p, to);
	return variable(v, p, to);
}

static why_t product(const struct wt_vars *v, const char **p, uint64_t *to)
{
	TRY(factor(v, p, to));
	while (**p == '*' && (*p)[1]) {
		uint64_t by;

		++*p;
		TRY(factor(v, p, &by));
		*to *= by;
	}
	return NULL;
}

static why_t sum(const struct wt_vars *v, const char **p, uint64_t *to)
{
	TRY(product(v, p, to));
	while (**p == '+' || **p == '-') {
		bool minus = *(*p)++ == '-';
		uint64_t by;

		TRY(product(v, p, &by));
		*to += minus ? -by : by;
	}
	return NULL;
}

why_t wt_eval(const struct wt_vars *v, const char *text, uint64_t *to)
{
	const char *p = text;

	TRY(sum(v, &p, to));
	CHECK(!*p, "'%s' is no expression", text);
	return NULL;
}

/* A word without '=' */
bool wt_flag(struct wt_stmt *s, const char *name)
{
	for (int i = 1; i < s->n; i++) {
		if (!strcmp(s->word[i], name)) {
			s->used[i] = true;
			return true;
		}
	}
	return false;
}

/* What follows "name=", or NULL */
const char *wt_text(struct wt_stmt *s, const char *name)
{
	size_t len = strlen(name);

	for (int i = 1; i < s->n; i++) {
		if (!strncmp(s->word[i], name, len) && s->word[i][len] == '=') {
			s->used[i] = true;
			return s->word[i] + len + 1;
		}
	}
	return NULL;
}

/* The same as a number; *to stays as it is if the argument is not there. */
why_t wt_num(const struct wt_vars *v, struct wt_stmt *s, const char *name,
	     uint64_t *to, bool *found)
{
	const char *text = wt_text(s, name);

	if (found)
		*found = text;
	return text ? wt_eval(v, text, to) : NULL;
}

/* A misspelt argument must not be taken for one that says nothing. */
why_t wt_all_used(const struct wt_stmt *s)
{
	for (int i = 1; i < s->n; i++)
		CHECK(s->used[i], "what is '%s'?", s->word[i]);
	return NULL;
}
