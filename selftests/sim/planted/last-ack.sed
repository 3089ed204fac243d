# no ACK is requested for the last packet
# file: rc/req.c
/^static bool ask_for_ack/,/^}/s/if (\*next)/if (1)/
