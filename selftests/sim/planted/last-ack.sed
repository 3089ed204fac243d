# no acknowledge is asked for at the end
# file: rc/req.c
/^static bool ask_for_ack/,/^}/s/if (\*next)/if (1)/
