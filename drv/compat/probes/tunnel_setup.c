// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: setup_udp_tunnel_sock() of <net/udp_tunnel.h>
 * form 1 SROCE_HAVE_TUNNEL_SETUP_SOCK: takes a struct sock
 * form 2: takes a struct socket
 */
#if SROCE_FORM == 1
SAME_TYPE(&setup_udp_tunnel_sock,
	  void (*)(struct net *, struct sock *, struct udp_tunnel_sock_cfg *));
#elif SROCE_FORM == 2
SAME_TYPE(&setup_udp_tunnel_sock,
	  void (*)(struct net *, struct socket *, struct udp_tunnel_sock_cfg *));
#endif
