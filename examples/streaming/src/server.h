/* The sender, in a process of its own: each byte that a client sends asks for the content once. */
#ifndef SERVER_H
#define SERVER_H

#include <netinet/in.h>
#include <stddef.h>

/* Starts it and returns its address. It ends with this process. */
struct sockaddr_in server_start(const char* host, size_t size);

#endif
