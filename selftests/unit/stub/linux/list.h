/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_LIST_H
#define STUB_LINUX_LIST_H

#include <linux/kernel.h>

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline void list_add(struct list_head *entry, struct list_head *after)
{
	entry->next = after->next;
	entry->prev = after;
	after->next->prev = entry;
	after->next = entry;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	list_add(entry, head->prev);
}

static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
}

#define LIST_HEAD(name)	struct list_head name = { &(name), &(name) }

/* All of @list go to the beginning of @head. */
static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	if (list->next == list)
		return;
	list->next->prev = head;
	list->prev->next = head->next;
	head->next->prev = list->prev;
	head->next = list->next;
	INIT_LIST_HEAD(list);
}

#define list_entry(ptr, type, member)	container_of(ptr, type, member)
#define list_first_entry_or_null(head, type, member)	\
	((head)->next != (head) ? list_entry((head)->next, type, member) : NULL)
#define list_for_each_prev(pos, head)	\
	for (pos = (head)->prev; pos != (head); pos = pos->prev)

#define list_for_each_entry_safe(pos, n, head, member)			\
	for (pos = list_entry((head)->next, typeof(*pos), member),		\
	     n = list_entry(pos->member.next, typeof(*pos), member);		\
	     &pos->member != (head);						\
	     pos = n, n = list_entry(n->member.next, typeof(*n), member))

#endif
