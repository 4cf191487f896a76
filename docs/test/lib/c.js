/** What the snippets of C take for granted, by id: what stands before the function that a snippet is put into, or before it. */

const LINE = 'typedef struct { uv_batch_event_t event; char text[100]; } line_t;';
const PRICE = 'typedef struct { uv_batch_event_t event; char symbol[8]; double volume; } price_t;';

const MESSAGES = `typedef struct { uv_batch_event_t event; } message_t;
  uv_loop_t* loop;
  uv_batch_t batch;
  uv_batch_handler_t handler;
  message_t *message, *other;
  int on_message(uv_batch_handler_t* handler, uv_batch_event_t* event);`;

/** `given`: declarations. `isWhole`: the snippet has functions of its own, so none is put around it. */
export const around = {
  'README.md#in-a-few-lines-2': { given: MESSAGES },
  'docs/getting-started.md#the-first-batch-2': { given: MESSAGES },
  'docs/reference/c.md#the-life-of-an-event-2': { isWhole: true },
  'docs/reference/c.md#late-handlers': { given: 'uv_batch_t batch; int type;' },
  'docs/reference/c.md#keys': {
    isWhole: true,
    given: `${PRICE} void price_is_over(uv_batch_t* batch, uv_batch_event_t* event, int status);`,
  },
  'docs/reference/c.md#keys-2': { isWhole: true, given: PRICE },
  'docs/reference/c.md#threads': { given: `${LINE} uv_batch_t batch; int type; line_t* line;` },
  'docs/reference/c.md#when-a-batch-leaves': { given: 'uv_loop_t* loop; uv_batch_t batch;' },
  'docs/guides/c.md#the-change': { given: 'uv_batch_t batch; int type;' },
  'docs/reference/c.md#in-the-loop-2': {
    given: 'uv_loop_t* loop;',
    // Its last lines are statements.
    isWhole: true,
    change: (code) => code.replace(/^uv_walk[\s\S]*/m, 'void snippet(void) {\n$&\n}'),
  },
  'docs/reference/c.md#in-the-loop-3': { given: 'uv_loop_t* loop;' },
  'docs/reference/c.md#adapters': {
    isWhole: true,
    given: `void goodbye(uv_stream_t* stream);
      void take(uv_stream_t* stream, const char* base, size_t size);`,
  },
  'docs/reference/c.md#fan-out': {
    given: `uv_buf_t buf;
      uv_batch_target_t* targets;
      size_t count;
      void drop(uv_batch_target_t* target);
      void write_rest(uv_batch_target_t* target, size_t sent);`,
  },
  'docs/reference/c.md#files': {
    given: `uv_loop_t* loop;
      void use(const char* base, size_t size);
      void done(void);`,
    // Its last line is a statement.
    isWhole: true,
    change: (code) => code.replace(/^int status.*$/m, 'void snippet(void) {\n$&\n}'),
  },
  'docs/reference/c.md#large-sockets': {
    given: `uv_tcp_t tcp;
      void on_alloc(uv_handle_t* handle, size_t suggested, uv_buf_t* buf);
      void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf);`,
  },
};

const INCLUDED = ['poll.h', 'stdio.h', 'stdlib.h', 'string.h', 'uv_batch.h'];

/** The source file that a snippet is a part of. */
export function sourceOf({ id, code }) {
  const { given = '', isWhole = false, change = (text) => text } = around[id] ?? {};
  const includes = INCLUDED.map((name) => `#include <${name}>`).join('\n');
  const body = change(code);
  return `${includes}\n${given}\n${isWhole ? body : `void snippet(void) {\n${body}\n}`}\n`;
}
