# responses that found no page count as taken in
# file: comp.c
/^static void take_response/,/^}/s/if (ret == -EAGAIN) {/if (0) {/
/^static void take_response/,/^}/s/if (ret) {/if (ret \&\& ret != -EAGAIN) {/
