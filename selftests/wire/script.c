// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Reading scripts: comments, parameters, loops; words. */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "wire.h"

#define NAMES 16

/* What $name stands for while a script is expanded */
struct names {
	int n;
	char name[NAMES][32];
	char value[NAMES][64];
};

static void *more(void *old, size_t size)
{
	void *p = realloc(old, size);

	if (!p)
		abort();
	return p;
}

static char *tidy(char *line)
{
	char *p = line, *end;

	for (end = line; *end; end++) {
		if (*end == '#' && (end == line || isspace(end[-1])))
			break;
	}
	*end = 0;
	while (end > line && isspace(end[-1]))
		*--end = 0;
	while (isspace(*p))
		p++;
	return p;
}

static void add_param(struct wt_file *f, const char *text)
{
	f->params = more(f->params, (f->nparams + 1) * sizeof(*f->params));
	f->params[f->nparams++] = strdup(text);
}

/* Lines keep their numbers: those of the head become empty. */
static why_t take_line(struct wt_file *f, char *raw)
{
	char *p = tidy(raw);

	if (!strncmp(p, "title ", 6)) {
		snprintf(f->title, sizeof(f->title), "%s", p + 6);
		p = "";
	} else if (!strncmp(p, "family ", 7)) {
		f->family = atoi(p + 7);
		CHECK(f->family == 4 || f->family == 6, "family is 4 or 6");
		p = "";
	} else if (!strncmp(p, "needs ", 6)) {
		snprintf(f->needs, sizeof(f->needs), "%s", p + 6);
		CHECK(!strcmp(f->needs, "flush") ||
		      !strcmp(f->needs, "no-flush"),
		      "nobody needs %s", f->needs);
		p = "";
	} else if (!strncmp(p, "fails ", 6)) {
		snprintf(f->fails, sizeof(f->fails), "%s", p + 6);
		p = "";
	} else if (!strncmp(p, "param ", 6)) {
		add_param(f, p + 6);
		p = "";
	}
	f->lines = more(f->lines, (f->nlines + 1) * sizeof(*f->lines));
	f->lines[f->nlines++] = strdup(p);
	return NULL;
}

static void set_name(const char *path, struct wt_file *f)
{
	const char *base = strrchr(path, '/');

	snprintf(f->name, sizeof(f->name), "%s", base ? base + 1 : path);
	if (strchr(f->name, '.'))
		*strchr(f->name, '.') = 0;
}

why_t wt_file_read(const char *path, struct wt_file *f)
{
	FILE *in = fopen(path, "r");
	why_t why = NULL;
	char line[512];

	memset(f, 0, sizeof(*f));
	set_name(path, f);
	CHECK(in, "can't read %s: %s", path, strerror(errno));
	while (!why && fgets(line, sizeof(line), in))
		why = take_line(f, line);
	fclose(in);
	TRY(why);
	CHECK(f->title[0], "%s has no title", path);
	return NULL;
}

static void free_lines(char **lines, int n)
{
	while (n--)
		free(lines[n]);
	free(lines);
}

void wt_file_free(struct wt_file *f)
{
	free_lines(f->lines, f->nlines);
	free_lines(f->params, f->nparams);
}

static why_t define(struct names *names, const char *name, size_t len,
		    const char *value)
{
	CHECK(names->n < NAMES && len < sizeof(names->name[0]),
	      "too many or too long parameters");
	memcpy(names->name[names->n], name, len);
	names->name[names->n][len] = 0;
	snprintf(names->value[names->n++], sizeof(names->value[0]), "%s", value);
	return NULL;
}

static why_t define_params(struct names *names, const char *text)
{
	char copy[512], *word, *save;

	snprintf(copy, sizeof(copy), "%s", text);
	for (word = strtok_r(copy, " \t", &save); word;
	     word = strtok_r(NULL, " \t", &save)) {
		char *eq = strchr(word, '=');

		CHECK(eq, "param has to be NAME=VALUE");
		TRY(define(names, word, eq - word, eq + 1));
	}
	return NULL;
}

/* The innermost meaning of a name counts. */
static why_t value_of(const struct names *names, const char *name, size_t len,
		      const char **to)
{
	for (int i = names->n - 1; i >= 0; i--) {
		if (strlen(names->name[i]) == len &&
		    !memcmp(names->name[i], name, len)) {
			*to = names->value[i];
			return NULL;
		}
	}
	return because("$%.*s is not defined", (int)len, name);
}

static why_t substitute(const struct names *names, const char *from, char *to,
			size_t size)
{
	size_t n = 0;

	while (*from) {
		const char *value = "";
		size_t len = 0;

		CHECK(n + 65 < size, "line too long");
		if (*from != '$') {
			to[n++] = *from++;
			continue;
		}
		from++;
		while (isalnum(from[len]) || from[len] == '_')
			len++;
		TRY(value_of(names, from, len, &value));
		n += snprintf(to + n, size - n, "%s", value);
		from += len;
	}
	to[n] = 0;
	return NULL;
}

static why_t add_stmt(struct wt_script *s, const char *text, int line)
{
	struct wt_stmt *st;
	char *save, *word;

	s->stmts = more(s->stmts, (s->n + 1) * sizeof(*s->stmts));
	st = &s->stmts[s->n++];
	memset(st, 0, sizeof(*st));
	st->line = line;
	snprintf(st->shown, sizeof(st->shown), "%s", text);
	snprintf(st->text, sizeof(st->text), "%s", text);
	for (word = strtok_r(st->text, " \t", &save); word;
	     word = strtok_r(NULL, " \t", &save)) {
		CHECK(st->n < WT_WORDS, "too many words");
		/* an offset: the array of statements may still move */
		st->word[st->n++] = (char *)(word - st->text);
	}
	return NULL;
}

/* The line of the "end" that belongs to the "for" before @i */
static int end_of_loop(const struct wt_file *f, int i)
{
	int depth = 1;

	for (; i < f->nlines; i++) {
		if (!strncmp(f->lines[i], "for ", 4))
			depth++;
		else if (!strcmp(f->lines[i], "end") && !--depth)
			break;
	}
	return i;
}

static why_t expand(const struct wt_file *f, int from, int to,
		    struct names *names, struct wt_script *s);

/* for NAME FROM TO [STEP], or for NAME in WORD... */
static why_t loop(const struct wt_file *f, int from, int to, const char *head,
		  struct names *names, struct wt_script *s)
{
	struct wt_vars none = { 0 };
	char name[32], a[64], b[64], value[64];
	uint64_t i, last, step = 1;
	int depth = names->n, at = 0;
	char c[64] = "1";

	if (sscanf(head, "for %31s in%n", name, &at) == 1 && at) {
		char copy[512], *save, *word;

		snprintf(copy, sizeof(copy), "%s", head + at);
		for (word = strtok_r(copy, " \t", &save); word;
		     word = strtok_r(NULL, " \t", &save)) {
			TRY(define(names, name, strlen(name), word));
			TRY(expand(f, from, to, names, s));
			names->n = depth;
		}
		return NULL;
	}
	CHECK(sscanf(head, "for %31s %63s %63s %63s", name, a, b, c) >= 3,
	      "for NAME FROM TO [STEP], or for NAME in WORD...");
	TRY(wt_eval(&none, a, &i));
	TRY(wt_eval(&none, b, &last));
	TRY(wt_eval(&none, c, &step));
	for (; i <= last; i += step) {
		snprintf(value, sizeof(value), "%llu", (unsigned long long)i);
		TRY(define(names, name, strlen(name), value));
		TRY(expand(f, from, to, names, s));
		names->n = depth;
	}
	return NULL;
}

static why_t expand(const struct wt_file *f, int from, int to,
		    struct names *names, struct wt_script *s)
{
	char text[512];

	for (int i = from; i < to; i++) {
		int end;

		if (!f->lines[i][0])
			continue;
		TRY(substitute(names, f->lines[i], text, sizeof(text)));
		if (strncmp(text, "for ", 4)) {
			TRY(add_stmt(s, text, i + 1));
			continue;
		}
		end = end_of_loop(f, i + 1);
		CHECK(end < to, "line %d: for without end", i + 1);
		TRY(loop(f, i + 1, end, text, names, s));
		i = end;
	}
	return NULL;
}

/* The statements of one variant. */
why_t wt_script_make(const struct wt_file *f, int family, int variant,
		     struct wt_script *s)
{
	struct names names = { 0 };
	char fam[2] = { '0' + family };

	memset(s, 0, sizeof(*s));
	TRY(define(&names, "family", 6, fam));
	snprintf(s->name, sizeof(s->name), "%s", f->name);
	snprintf(s->title, sizeof(s->title), "%s", f->title);
	if (f->nparams) {
		TRY(define_params(&names, f->params[variant]));
		snprintf(s->title, sizeof(s->title), "%s (%s)", f->title,
			 f->params[variant]);
	}
	TRY(expand(f, 0, f->nlines, &names, s));
	for (int i = 0; i < s->n; i++) {
		struct wt_stmt *st = &s->stmts[i];

		for (int k = 0; k < st->n; k++)
			st->word[k] = st->text + (size_t)st->word[k];
	}
	return NULL;
}

void wt_script_free(struct wt_script *s)
{
	free(s->stmts);
}
