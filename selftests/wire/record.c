// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a run has found, for report.py: lines of fields with tabs between them.
 * Lists of scripts and rules, in the same form.
 */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include "wire.h"

static FILE *records;

/* Whether a device that breaks the rule does not fail this script for that */
bool wt_soft(const struct wt_run *r, enum wt_rule rule)
{
	return r->soft & 1u << rule;
}

/* A rule is broken: the reason of a failure, or NULL and a note, the first of its kind */
why_t wt_note(struct wt_run *r, enum wt_rule rule, const char *fmt, ...)
{
	char text[WT_NOTE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!wt_soft(r, rule))
		return because("%s", text);
	if (!r->note[rule][0]) {
		memcpy(r->note[rule], text, sizeof(text));
		wt_trace(r, "  noted, %s: %s", wt_rules[rule].name, text);
	}
	return NULL;
}

why_t wt_record_open(const char *path)
{
	records = fopen(path, "a");
	CHECK(records, "can't write %s: %s", path, strerror(errno));
	return NULL;
}

/* Text as a field: no tab or newline in it */
static void field(FILE *to, const char *text, char end)
{
	for (; *text; text++)
		fputc(iscntrl(*text) ? ' ' : *text, to);
	fputc(end, to);
}

static void head(const char *kind, const struct wt_script *s, int family)
{
	field(records, kind, '\t');
	field(records, s->name, '\t');
	field(records, s->title, '\t');
	fprintf(records, "IPv%d\t", family);
}

/* A case: "pass" or "fail" and why. What is known is in the file, whatever happens next. */
void wt_record(const struct wt_run *r, const struct wt_script *s,
	       const char *result, const char *why)
{
	if (!records)
		return;
	head("case", s, r->family);
	field(records, result, '\t');
	field(records, why ? why : "", '\n');
	for (int i = 0; i < WT_RULES; i++) {
		if (!r->note[i][0])
			continue;
		head("note", s, r->family);
		field(records, wt_rules[i].name, '\t');
		field(records, r->note[i], '\n');
	}
	fflush(records);
}

void wt_record_skip(const char *name, const char *why)
{
	if (!records)
		return;
	fprintf(records, "case\t%s\t\t\tskip\t%s\n", name, why);
	fflush(records);
}

static void list_one(const struct wt_file *f)
{
	printf("script\t%s\t%s\t", f->name, wt_level_name(f->level));
	for (int i = 0; i < f->nsections; i++)
		printf("%s%s", i ? " " : "", f->section[i]);
	printf("\t%s\n", f->title);
}

/* All that can be said of a script without running it: it can be read and expanded. */
static why_t try_all(const struct wt_file *f)
{
	int variants = f->nparams ? f->nparams : 1;

	for (int i = 0; i < variants; i++) {
		struct wt_script s;
		why_t why = wt_script_make(f, f->family ? f->family : 4, i, &s);

		wt_script_free(&s);
		CHECK(!why, "%s: %s", f->name, why);
	}
	return NULL;
}

/* Rules and scripts with level, sections and text; the first mistake in a head */
why_t wt_list(int n, char **paths)
{
	struct wt_file f;
	why_t why = NULL;

	for (int i = 0; i < WT_RULES; i++)
		printf("rule\t%s\t%s\t%s\t%s\n", wt_rules[i].name,
		       wt_level_name(wt_rules[i].level), wt_rules[i].section,
		       wt_rules[i].text);
	for (int i = 0; !why && i < n; i++) {
		why = wt_file_read(paths[i], &f);
		CHECK(!why, "%s: %s", paths[i], why);
		why = try_all(&f);
		if (!why && f.has_level)
			list_one(&f);
		wt_file_free(&f);
	}
	return why;
}
