/** The signals by which callers abort tasks: anything that emits `abort`, and the error that they get. */

import { MillraceError } from '@millrace/base/errors';
import { throwLater } from '@millrace/base/turn';

/** Source of the event `abort`: an AbortSignal or another EventTarget, or an EventEmitter. */
export type AbortSource =
  | {
      addEventListener(name: 'abort', listener: () => void, options?: { once: boolean }): void;
      removeEventListener(name: 'abort', listener: () => void): void;
      readonly aborted?: boolean;
      readonly reason?: unknown;
    }
  | {
      once(name: 'abort', listener: () => void): unknown;
      off?(name: 'abort', listener: () => void): unknown;
    };

/** Error of a call whose signal was aborted; `cause` is the signal's reason. */
export class AbortError extends MillraceError {
  constructor(reason?: unknown) {
    super('MILLRACE_E_ABORTED', 'The task has been aborted', { cause: reason });
    this.name = 'AbortError';
  }
}

export const isAborted = (source: AbortSource): boolean =>
  'aborted' in source && source.aborted === true;

export const reasonOf = (source: AbortSource): unknown =>
  'reason' in source ? source.reason : undefined;

/** Calls the listener once. Returns a function that removes it. */
export function onAbort(source: AbortSource, listener: () => void): () => void {
  if ('addEventListener' in source) source.addEventListener('abort', listener, { once: true });
  else source.once('abort', listener);
  return () => {
    // If a caller's source throws, others must still get their results.
    try {
      if ('addEventListener' in source) source.removeEventListener('abort', listener);
      else source.off?.('abort', listener);
    } catch (error) {
      throwLater(error);
    }
  };
}
