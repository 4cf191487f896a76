export { show } from './schema.cjs';

/**
 * The one table of error codes. Each error that a package of Millrace throws or rejects with is a {@link MillraceError} with one
 * of these codes, and a message that names the bad value and the way out.
 */
export const codes = {
  /** A queue is at its bound in events or bytes: the event, call or record was not taken. Slow down, drop, or raise the bound. */
  MILLRACE_E_OVERLOADED: 'overloaded',
  /** The queue was closed before this push. */
  MILLRACE_E_CLOSED: 'closed',
  /** The event was queued and then discarded by `close({ discard: true })`. */
  MILLRACE_E_CANCELLED: 'cancelled',
  /** An event without a handler did not fit into the bounds of its type's retention. */
  MILLRACE_E_RETENTION: 'retention',
  /** A retained event reached its age, or its queue was closed, before a handler came. */
  MILLRACE_E_EXPIRED: 'expired',
  /** An option is missing, unknown, of the wrong type, or out of range. */
  MILLRACE_E_INVALID_OPTION: 'invalid',
  /** An argument of a call is of the wrong type or out of range. */
  MILLRACE_E_INVALID_ARGUMENT: 'invalid',
  /** An answer that others wait for as well has not come within `timeout`, or a task of a pool has run for longer. */
  MILLRACE_E_TIMEOUT: 'timeout',
  /** The signal of a task was aborted before the task had ended. */
  MILLRACE_E_ABORTED: 'aborted',
  /** The worker that ran a task ended: it crashed, left, or ran out of memory. `cause` says how. */
  MILLRACE_E_WORKER: 'worker',
  /** The file of a task is missing, cannot be loaded, or has no such function. */
  MILLRACE_E_TASK_FILE: 'task-file',
  /** A bulk function returned something other than one result for each item; or a task returned something that cannot be cloned. */
  MILLRACE_E_BAD_RESULT: 'bad-result',
  /** The addon is asked for and cannot be used, or something that only it can do is. */
  MILLRACE_E_NATIVE: 'native',
  /** A bundle needs a file of the package, which is not installed where it runs; or the package lacks it. */
  MILLRACE_E_BUNDLED: 'bundled',
  /** A package that the application has to bring is not installed. The message has the command that installs it. */
  MILLRACE_E_PACKAGE: 'package',
  /** The runtime (Bun, Deno) does not measure what this needs. */
  MILLRACE_E_RUNTIME: 'runtime',
  /** The broker is away, refuses the credentials, is too old, or has a stream that is set up otherwise. */
  MILLRACE_E_BROKER: 'broker',
  /** A message is larger than the broker takes; nobody gets it. */
  MILLRACE_E_TOO_LARGE: 'too-large',
  /** A durable task of this id was stored before; its result goes to whoever stored it. */
  MILLRACE_E_DUPLICATE: 'duplicate',
  /** A durable task is done, and its result was given up while its client was away from the broker. */
  MILLRACE_E_RESULT_LOST: 'result-lost',
} as const;

/** The `code` of a {@link MillraceError}. It stays the same from release to release; messages do not. */
export type ErrorCode = keyof typeof codes;

/** Error of a package of Millrace. `code` is stable; `message` is for people. */
export class MillraceError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MillraceError';
    this.code = code;
  }
}
