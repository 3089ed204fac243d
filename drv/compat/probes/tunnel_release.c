// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: udp_tunnel_sock_release() of <net/udp_tunnel.h>
 * form 1 SROCE_HAVE_TUNNEL_RELEASE_SOCK: takes a struct sock
 * form 2: takes a struct socket
 */
#if SROCE_FORM == 1
SAME_TYPE(&udp_tunnel_sock_release, void (*)(struct sock *));
#elif SROCE_FORM == 2
SAME_TYPE(&udp_tunnel_sock_release, void (*)(struct socket *));
#endif
