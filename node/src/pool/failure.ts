/** Errors that callers get. The messages begin like those of piscina, which programs may look for. */
import { isError } from '../core/realm.cjs';
import { MillraceError, show } from '../errors.js';
import { anyFunction, type Failure, NO_FUNCTION, THREW } from './protocol.cjs';

/** What a worker says of a task that failed. */
export function failureOf(
  { filename, name }: { readonly filename: string; readonly name: string },
  [, kind, error, properties]: Failure,
): unknown {
  if (kind === THREW) {
    return isError(error) && properties ? Object.assign(error, properties) : error;
  }
  if (kind === NO_FUNCTION) {
    return new MillraceError(
      'MILLRACE_E_TASK_FILE',
      `${name === anyFunction ? 'functions' : `function '${name}'`} cannot be had from ${filename}: ${messageOf(error)}`,
      { cause: error },
    );
  }
  return new MillraceError(
    'MILLRACE_E_BAD_RESULT',
    `the result of '${name}' cannot be cloned: ${messageOf(error).replace(/\.$/, '')}; return plain data, or move() what can be transferred`,
    { cause: error },
  );
}

export const taskNotClonable = (error: unknown): MillraceError =>
  new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the task cannot be sent to a worker: ${messageOf(error).replace(/\.$/, '')}; give plain data, and in transferList only what can be transferred and has not been`,
    { cause: error },
  );

/** The worker ended while it had the task. */
export function workerEnded(
  cause: Error,
  begun: 'running' | 'ended' | 'waiting' | 'unbegun',
): MillraceError {
  const what = {
    running: 'while the task ran; with `retry` it would be begun again on another worker',
    ended:
      'after the task had run and before its result had left; with `retry` it would be begun again',
    waiting: 'before the task began, and the data that was transferred is lost with it',
    unbegun: 'before the task began, as each one did that was given it',
  }[begun];
  const { message } = cause;
  return new MillraceError('MILLRACE_E_WORKER', `${message} (the worker ended ${what})`, { cause });
}

export const cannotStart = (cause: unknown): MillraceError =>
  new MillraceError(
    'MILLRACE_E_WORKER',
    `workers cannot be started: ${messageOf(cause)}; mend that, and the next task tries again`,
    {
      cause,
    },
  );

export const exited = (code: number): Error => new Error(`worker exited with code: ${code}`);

export const timedOut = (timeoutMs: number, name: string): MillraceError =>
  new MillraceError(
    'MILLRACE_E_TIMEOUT',
    `'${name}' has run for longer than its timeout of ${timeoutMs} ms; raise it, or 0 for none`,
  );

export const closeTimedOut = (ms: number): MillraceError =>
  new MillraceError(
    'MILLRACE_E_TIMEOUT',
    `Close operation timed out: tasks were still running after the closeTimeout of ${ms} ms; raise it, or destroy() the pool`,
  );

export const destroyed = (): MillraceError =>
  new MillraceError(
    'MILLRACE_E_CLOSED',
    'Terminating worker thread: the pool is being destroyed; close() would let its tasks end',
  );

/** Named and worded like an abort, which is what it is for the caller. */
export function closed(cause: string): MillraceError {
  const error = new MillraceError('MILLRACE_E_CLOSED', 'The task has been aborted', { cause });
  error.name = 'AbortError';
  return error;
}

export const full = (maxQueue: number): MillraceError =>
  new MillraceError(
    'MILLRACE_E_OVERLOADED',
    maxQueue === 0
      ? 'No task queue available and all Workers are busy: maxQueue is 0; raise it, or try again later'
      : `Task queue is at limit: ${maxQueue} tasks wait (maxQueue); send fewer, or raise it`,
  );

function messageOf(error: unknown): string {
  return isError(error) ? error.message : show(error);
}
