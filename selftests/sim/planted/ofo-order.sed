# kept packets are queued in the wrong order
# file: rc/ofo.c
/^static bool insert/,/^}/s/if (diff > 0)/if (diff < 0)/
