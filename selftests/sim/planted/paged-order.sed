# of UC and UD, what waits for pages goes behind what came after it
# file: rc/ofo.c
/^static bool insert/,/^}/s/first ? queue : queue->prev/queue->prev/
