/* An echo server. What a turn of the loop brings comes as batches: connections, and reads of all of them; what a
 * connection gets back for the reads of one batch is gathered into one write.
 *
 *   echo PORT      0 takes a free port; the port is printed. Ends on SIGINT or SIGTERM
 *   echo --check   the server with clients of its own, which verify what comes back */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv_batch.h>

/* Reads in one write; bytes that a peer may leave untaken before it is not read from any more. */
enum { max_gathered = 32, max_untaken = 1 << 20 };

/* One write: the buffers of the reads that it answers. */
typedef struct {
  uv_write_t req;
  struct peer_s* peer;
  uv_buf_t bufs[max_gathered];
  unsigned int count;
} answer_t;

typedef struct peer_s {
  uv_tcp_t tcp;
  uv_batch_reader_t reader;
  struct peer_s* next;
  struct peer_s** at;
  answer_t* answer; /* that this batch gathers */
  struct peer_s* next_answered;
  size_t writes; /* under way */
  enum { reading, stopping, stopped, closing } state;
  int over; /* it has ended, or failed, or the server has */
} peer_t;

static struct {
  uv_batch_t batch;
  uv_tcp_t tcp;
  uv_batch_listener_t listener;
  uv_batch_handler_t on_connections, on_reads, on_signals;
  uv_batch_signal_t interrupt, terminate;
  peer_t* peers;
  unsigned long long reads, writes;
  int ending;
} server;

/* ---- a connection's life: everything that changes it ends in settle() */

static void settle(peer_t* peer);

static void on_alloc(uv_handle_t* handle, size_t suggested_size, uv_buf_t* buf) {
  (void)handle;
  char* base = malloc(suggested_size);
  *buf = uv_buf_init(base, base == NULL ? 0 : (unsigned int)suggested_size);
}

/* Runs for the buffers that on_reads() has not kept. */
static void on_release(uv_batch_reader_t* reader, const uv_buf_t* buf) {
  (void)reader;
  free(buf->base);
}

static void on_closed(uv_handle_t* handle) {
  peer_t* peer = handle->data;
  *peer->at = peer->next;
  if (peer->next != NULL) peer->next->at = peer->at;
  free(peer);
}

static void on_stopped(uv_batch_reader_t* reader) {
  peer_t* peer = reader->data;
  peer->state = stopped;
  settle(peer);
}

static void settle(peer_t* peer) {
  size_t untaken = uv_stream_get_write_queue_size((uv_stream_t*)&peer->tcp);
  if (peer->state == stopped && !peer->over && untaken <= max_untaken / 2) {
    uv_stream_t* stream = (uv_stream_t*)&peer->tcp;
    int status = uv_batch_read_start(&server.batch, &peer->reader, stream, on_alloc, on_release);
    if (status == 0) peer->state = reading;
    else peer->over = 1;
  }
  if (peer->state == reading && (peer->over || untaken > max_untaken)) {
    peer->state = stopping;
    uv_batch_read_stop(&peer->reader, on_stopped);
  }
  if (peer->state == stopped && peer->over && (peer->writes == 0 || server.ending)) {
    peer->state = closing;
    uv_close((uv_handle_t*)&peer->tcp, on_closed);
  }
}

/* ---- connections */

static uv_stream_t* new_client(uv_batch_listener_t* listener) {
  peer_t* peer = calloc(1, sizeof(*peer));
  if (peer == NULL) return NULL;
  uv_tcp_init(listener->batch->loop, &peer->tcp);
  peer->tcp.data = peer->reader.data = peer;
  peer->state = stopped;
  peer->next = server.peers;
  if (peer->next != NULL) peer->next->at = &peer->next;
  peer->at = &server.peers;
  server.peers = peer;
  return (uv_stream_t*)&peer->tcp;
}

static void drop_client(uv_batch_listener_t* listener, uv_stream_t* client, int status) {
  (void)listener, (void)status;
  peer_t* peer = client->data;
  peer->over = 1;
  settle(peer);
}

static void on_connections(uv_batch_handler_t* handler, uv_batch_event_t* first, size_t count) {
  (void)handler, (void)count;
  for (uv_batch_event_t* event = first; event != NULL; event = event->next) {
    uv_stream_t* client = event->data;
    settle(client->data);
  }
}

/* ---- reads and their answers */

static void free_answer(answer_t* answer) {
  for (unsigned int i = 0; i < answer->count; i++) free(answer->bufs[i].base);
  free(answer);
}

static void on_written(uv_write_t* req, int status) {
  answer_t* answer = req->data;
  peer_t* peer = answer->peer;
  free_answer(answer);
  peer->writes--;
  if (status != 0) peer->over = 1;
  /* A write that its close has cancelled comes before the close callback. */
  if (peer->state != closing) settle(peer);
}

static void send_answer(peer_t* peer) {
  answer_t* answer = peer->answer;
  if (answer == NULL) return;
  peer->answer = NULL;
  answer->req.data = answer;
  int status = uv_write(&answer->req, (uv_stream_t*)&peer->tcp, answer->bufs, answer->count, on_written);
  if (status == 0) {
    peer->writes++;
    server.writes++;
  } else {
    free_answer(answer);
    peer->over = 1;
  }
}

/* The buffer becomes part of the answer, and so is no longer the read's. */
static void gather(peer_t* peer, uv_batch_read_t* read) {
  if (peer->answer != NULL && peer->answer->count == max_gathered) send_answer(peer);
  if (peer->answer == NULL) peer->answer = calloc(1, sizeof(*peer->answer));
  if (peer->answer == NULL) {
    peer->over = 1;
    return;
  }
  peer->answer->peer = peer;
  peer->answer->bufs[peer->answer->count++] = uv_buf_init(read->buf.base, (unsigned int)read->nread);
  read->buf.base = NULL;
}

static void on_reads(uv_batch_handler_t* handler, uv_batch_event_t* first, size_t count) {
  (void)handler;
  peer_t* answered = NULL;
  server.reads += count;
  for (uv_batch_event_t* event = first; event != NULL; event = event->next) {
    uv_batch_read_t* read = (uv_batch_read_t*)event; /* its first member */
    peer_t* peer = read->reader->data;
    if (peer->next_answered == NULL) {
      peer->next_answered = answered == NULL ? peer : answered; /* the last one points to itself */
      answered = peer;
    }
    if (read->nread < 0) peer->over = 1;
    else if (!peer->over) gather(peer, read);
  }
  while (answered != NULL) {
    peer_t* peer = answered;
    answered = peer->next_answered == peer ? NULL : peer->next_answered;
    peer->next_answered = NULL;
    send_answer(peer);
    settle(peer);
  }
}

/* ---- start and end */

static void end_server(void) {
  if (server.ending) return;
  server.ending = 1;
  /* What was never started says UV_EINVAL, and that is all. */
  uv_batch_listen_stop(&server.listener, NULL);
  uv_batch_signal_stop(&server.interrupt, NULL);
  uv_batch_signal_stop(&server.terminate, NULL);
  uv_close((uv_handle_t*)&server.tcp, NULL);
  for (peer_t *peer = server.peers, *next; peer != NULL; peer = next) {
    next = peer->next;
    peer->over = 1;
    if (peer->state != closing) settle(peer);
  }
  uv_batch_close(&server.batch, 0, NULL);
}

static int on_signals(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  (void)handler, (void)event;
  end_server();
  return 0;
}

static int start_server(uv_loop_t* loop, int port) {
  struct sockaddr_in address;
  uv_batch_t* batch = &server.batch;
  uv_stream_t* stream = (uv_stream_t*)&server.tcp;
  int status = uv_batch_init(loop, batch, NULL);
  if (status != 0) return status;
  uv_tcp_init(loop, &server.tcp);
  status = uv_batch_on_group(batch, &server.on_connections, UV_BATCH_NETWORK, on_connections);
  if (status == 0) status = uv_batch_on_group(batch, &server.on_reads, UV_BATCH_STREAM, on_reads);
  if (status == 0) status = uv_batch_on(batch, &server.on_signals, UV_BATCH_SIGNAL, on_signals);
  if (status == 0) status = uv_ip4_addr("127.0.0.1", port, &address);
  if (status == 0) status = uv_tcp_bind(&server.tcp, (const struct sockaddr*)&address, 0);
  if (status == 0) status = uv_batch_listen(batch, &server.listener, stream, 511, new_client, drop_client);
  if (status == 0) status = uv_batch_signal_start(batch, &server.interrupt, SIGINT);
  if (status == 0) status = uv_batch_signal_start(batch, &server.terminate, SIGTERM);
  if (status != 0) end_server();
  return status;
}

static int bound_port(struct sockaddr_in* address) {
  int length = sizeof(*address);
  if (uv_tcp_getsockname(&server.tcp, (struct sockaddr*)address, &length) != 0) return -1;
  const unsigned char* port = (const unsigned char*)&address->sin_port; /* in network order */
  return port[0] << 8 | port[1];
}

/* ---- the check: clients in plain libuv */

enum { clients = 20, client_bytes = 500000, client_piece = 5000 };

typedef struct {
  uv_tcp_t tcp;
  uv_connect_t connect;
  uv_write_t writes[client_bytes / client_piece];
  char* sent;
  char room[65536];
  size_t received;
} client_t;

static int clients_left = clients;
static int clients_failed;

static void on_client_closed(uv_handle_t* handle) {
  client_t* client = handle->data;
  free(client->sent);
  free(client);
  if (--clients_left > 0) return;
#ifdef _WIN32
  end_server();
#else
  uv_kill(uv_os_getpid(), SIGTERM); /* what ends the server ends the check */
#endif
}

static void end_client(client_t* client, int status) {
  if (status != 0) clients_failed++;
  if (!uv_is_closing((uv_handle_t*)&client->tcp)) uv_close((uv_handle_t*)&client->tcp, on_client_closed);
}

static void client_alloc(uv_handle_t* handle, size_t suggested_size, uv_buf_t* buf) {
  (void)suggested_size;
  client_t* client = handle->data;
  *buf = uv_buf_init(client->room, sizeof(client->room));
}

static void client_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  client_t* client = stream->data;
  if (nread == 0) return;
  int wrong = nread < 0 || (size_t)nread > client_bytes - client->received ||
              memcmp(buf->base, client->sent + client->received, (size_t)nread) != 0;
  if (wrong) {
    end_client(client, UV_EIO);
    return;
  }
  client->received += (size_t)nread;
  if (client->received == client_bytes) end_client(client, 0);
}

static void client_written(uv_write_t* req, int status) {
  if (status != 0 && status != UV_ECANCELED) end_client(req->data, status);
}

static void client_connected(uv_connect_t* connect, int status) {
  client_t* client = connect->data;
  uv_stream_t* stream = (uv_stream_t*)&client->tcp;
  if (status == 0) status = uv_read_start(stream, client_alloc, client_read);
  for (size_t i = 0; i < client_bytes / client_piece && status == 0; i++) {
    uv_buf_t buf = uv_buf_init(client->sent + i * client_piece, client_piece);
    client->writes[i].data = client;
    status = uv_write(&client->writes[i], stream, &buf, 1, client_written);
  }
  if (status != 0) end_client(client, status);
}

static void start_client(uv_loop_t* loop, const struct sockaddr_in* address, unsigned int number) {
  client_t* client = calloc(1, sizeof(*client));
  if (client == NULL) abort();
  client->sent = malloc(client_bytes);
  if (client->sent == NULL) abort();
  for (unsigned int i = 0; i < client_bytes; i++) client->sent[i] = (char)(i * 2654435761u >> (number % 24));
  uv_tcp_init(loop, &client->tcp);
  client->tcp.data = client->connect.data = client;
  int status = uv_tcp_connect(&client->connect, &client->tcp, (const struct sockaddr*)address, client_connected);
  if (status != 0) end_client(client, status);
}

/* ---- */

int main(int argc, char** argv) {
  int is_check = argc == 2 && strcmp(argv[1], "--check") == 0;
  char* end = NULL;
  long port = argc == 2 && !is_check ? strtol(argv[1], &end, 10) : 0;
  if (argc != 2 || (!is_check && (*end != '\0' || end == argv[1])) || port < 0 || port > 65535) {
    fprintf(stderr, "usage: %s PORT | --check\n", argv[0]);
    return 2;
  }
  struct sockaddr_in address;
  uv_loop_t* loop = uv_default_loop();
  int status = start_server(loop, (int)port);
  if (status != 0) fprintf(stderr, "echo: %s\n", uv_batch_strerror(status));
  if (status == 0) {
    printf("port %d\n", bound_port(&address));
    fflush(stdout);
    for (unsigned int i = 0; is_check && i < clients; i++) start_client(loop, &address, i);
  }
  uv_run(loop, UV_RUN_DEFAULT);
  if (uv_loop_close(loop) != 0) status = UV_EBUSY;
  if (status == 0) printf("%llu reads were answered by %llu writes\n", server.reads, server.writes);
  if (clients_failed > 0) fprintf(stderr, "echo: %d clients did not get back what they sent\n", clients_failed);
  return status != 0 || clients_failed > 0;
}
