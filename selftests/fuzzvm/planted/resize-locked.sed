# a resize whose entries do not fit leaves its mutex locked
# file: queue/cq.c
# SPDX-License-Identifier: GPL-2.0
/^int sroce_cq_resize/,/^}/s/^\t\tmutex_unlock(&cq->resize_mutex);$/\t\tif (!ret)\n\t\t\tmutex_unlock(\&cq->resize_mutex);/
