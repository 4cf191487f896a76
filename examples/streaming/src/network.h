/* Where server and clients run: on which cores, and how far apart. */
#ifndef NETWORK_H
#define NETWORK_H

#include <netinet/in.h>
#include <stddef.h>

/* Keeps this process on one core, where there are two or more and the system lets it. */
void network_pin(unsigned int core);

/* Starts the server, `rtt_ms` away when that is not 0: in network namespaces that vanish with these processes, by
 * netem, or by a delay line of this program between two TUN devices where the kernel has no netem. Says which. Ends the
 * program with a sentence when neither is allowed. */
struct sockaddr_in network_start(double rtt_ms, size_t size);

#endif
