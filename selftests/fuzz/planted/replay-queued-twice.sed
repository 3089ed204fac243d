# what is being sent again is queued again
# file: answer.c
/^static void replay/,/^}/s/if (res->again) {/if (0) {/
