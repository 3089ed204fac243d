# after each gap all is sent again, whatever the peer keeps
# file: rc/retrans.c
/^void sroce_repair_gap/,/^}/s/rp->habit == SROCE_HABIT_KEEPS/rp->habit == SROCE_HABIT_UNKNOWN + 9/
/^void sroce_repair_gap/,/^}/s/rp->habit == SROCE_HABIT_DROPS ||/rp->habit != SROCE_HABIT_UNKNOWN ||/
