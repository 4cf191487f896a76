/** Whether there is room: the bounds of a queue and the error that a refused caller sees. */
import { MillraceError, show } from '../../errors.js';
import type { QueueMap } from '../batch/queue-map.js';
import type { QueueOptions } from '../queue-options.js';

export function hasRoom(queue: QueueMap, bytes: number, options: QueueOptions): boolean {
  return queue.count < options.maxQueue && queue.bytes + bytes <= options.maxQueueBytes;
}

export function overloaded(queue: QueueMap, bytes: number, options: QueueOptions): MillraceError {
  const why =
    queue.count >= options.maxQueue
      ? `${queue.count} events are queued and maxQueue is ${options.maxQueue}`
      : `${queue.bytes} bytes are queued, the event has ${bytes} and maxQueueBytes is ${options.maxQueueBytes}`;
  return new MillraceError(
    'MILLRACE_E_OVERLOADED',
    `the queue is full: ${why}; retry later, push less, or raise the bound`,
  );
}

export function closed(): MillraceError {
  return new MillraceError('MILLRACE_E_CLOSED', 'the queue is closed; push before close()');
}

export function cancelled(): MillraceError {
  return new MillraceError(
    'MILLRACE_E_CANCELLED',
    'the event was discarded by close({ discard: true }); without discard it would have been delivered',
  );
}

/** A size that a size function or a caller gave. */
export function checkBytes(bytes: unknown): number {
  if (typeof bytes === 'number' && bytes >= 0 && Number.isSafeInteger(bytes)) return bytes;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the size of an event is ${show(bytes)}; it must be an integer of bytes from 0 to 2^53 - 1`,
  );
}
