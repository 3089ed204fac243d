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

/* ---- the head ------------------------------------------------------------- */

static why_t head_title(struct wt_file *f, const char *text)
{
	snprintf(f->title, sizeof(f->title), "%s", text);
	return NULL;
}

static why_t head_family(struct wt_file *f, const char *text)
{
	f->family = atoi(text);
	CHECK(f->family == 4 || f->family == 6, "family is 4 or 6");
	return NULL;
}

static why_t head_fails(struct wt_file *f, const char *text)
{
	snprintf(f->fails, sizeof(f->fails), "%s", text);
	return NULL;
}

static why_t head_param(struct wt_file *f, const char *text)
{
	add_param(f, text);
	return NULL;
}

/* The words of @text, one by one, to @take */
static why_t each_word(struct wt_file *f, const char *text,
		       why_t (*take)(struct wt_file *f, const char *word))
{
	char copy[256], *word, *save;

	snprintf(copy, sizeof(copy), "%s", text);
	for (word = strtok_r(copy, " \t", &save); word;
	     word = strtok_r(NULL, " \t", &save))
		TRY(take(f, word));
	return NULL;
}

static why_t take_need(struct wt_file *f, const char *word)
{
	static const char *const known[] = {
		"flush", "no-flush", "vlan", "atomic", "atomic-write", "srq", "mw",
	};
	size_t len = strlen(f->needs), i;

	for (i = 0; i < ARRAY_SIZE(known) && strcmp(known[i], word); i++)
		;
	CHECK(i < ARRAY_SIZE(known), "nobody needs %s", word);
	snprintf(f->needs + len, sizeof(f->needs) - len, "%s%s",
		 len ? " " : "", word);
	return NULL;
}

/* needs WORD...: of the device, or the script is skipped */
static why_t head_needs(struct wt_file *f, const char *text)
{
	return each_word(f, text, take_need);
}

/* Numbers with dots between them; the first may be an annex: A17 */
static bool is_section(const char *word)
{
	size_t n;

	word += *word == 'A';
	for (;;) {
		n = strspn(word, "0123456789");
		if (!n || (word[n] && word[n] != '.'))
			return false;
		if (!word[n])
			return true;
		word += n + 1;
	}
}

static why_t take_clause(struct wt_file *f, const char *word)
{
	if (!f->has_level) {
		CHECK(wt_level_by_name(word, &f->level),
		      "'%s' is neither must, may nor sroce", word);
		f->has_level = true;
		return NULL;
	}
	CHECK(is_section(word), "'%s' is no section", word);
	CHECK(f->nsections < WT_SECTIONS, "too many sections");
	snprintf(f->section[f->nsections++], sizeof(f->section[0]), "%s", word);
	return NULL;
}

/* clause must|may|sroce SECTION...: whose expectation this is, and where it stands */
static why_t head_clause(struct wt_file *f, const char *text)
{
	CHECK(!f->has_level, "one clause is enough");
	TRY(each_word(f, text, take_clause));
	CHECK(f->nsections, "clause without a section");
	return NULL;
}

static why_t take_check(struct wt_file *f, const char *word)
{
	int rule = wt_rule_by_name(word);

	CHECK(rule >= 0, "no rule is called %s", word);
	f->checks |= 1u << rule;
	return NULL;
}

/* checks RULE...: a device that breaks it fails this script */
static why_t head_checks(struct wt_file *f, const char *text)
{
	return each_word(f, text, take_check);
}

static const struct {
	const char *name;
	why_t (*take)(struct wt_file *f, const char *text);
} heads[] = {
	{ "title ", head_title }, { "family ", head_family },
	{ "needs ", head_needs }, { "fails ", head_fails },
	{ "param ", head_param }, { "clause ", head_clause },
	{ "checks ", head_checks },
};

/* Lines keep their numbers: those of the head become empty. */
static why_t take_line(struct wt_file *f, char *raw)
{
	char *p = tidy(raw);

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		size_t len = strlen(heads[i].name);

		if (strncmp(p, heads[i].name, len))
			continue;
		TRY(heads[i].take(f, p + len));
		p = "";
		break;
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
	CHECK(f->has_level || f->fails[0], "%s has no clause", path);
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
