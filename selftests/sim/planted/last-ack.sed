# no acknowledge is asked for at the end
# file: req.c
/^static bool ask_for_ack/,/^}/s/ && more_to_send(qp))/)/
