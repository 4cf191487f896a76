/**
 * Tasks of a client until the broker has stored them, or they are given up. Owner of `Call.state`:
 *
 *     waiting ──► sent ──► stored
 *        └──► gone: aborted, overdue, or rejected at a close
 *
 * Tasks that wait leave at the end of the turn, as a pool sends to its threads, in packs. While 64 messages are not
 * acknowledged they wait on, and more of them go together. A task is given up at its deadline, `storeTimeout` after the
 * call; at once if the broker refuses this client for a reason that lasts, such as credentials, or has the stream set up
 * otherwise.
 */

import { MillraceError } from '@millrace/base/errors';
import { priorities } from '@millrace/base/priority';
import { clearInterval, performance, setInterval } from '@millrace/base/timers';
import { afterMicrotasks, onceAt } from '@millrace/base/turn';
import { failure, isLasting } from '../failure.js';
import { encodeBatch, token } from '../wire.js';
import type { Call } from './call.js';
import type { ClientContext } from './context.js';
import { Packer } from './packer.js';
import { Publisher } from './publisher.js';
import { headerNames, openStreams } from './streams.js';

const sweepMs = 250;

export class SendQueue {
  readonly #context: ClientContext;
  readonly #publisher: Publisher;
  readonly packer: Packer;
  /** Tasks that the broker has not acknowledged. */
  size = 0;
  #timer: NodeJS.Timeout | null = null;
  #opening: Promise<void> | null = null;
  #isOpen = false;
  #failure: MillraceError | null = null;
  /** Some tasks are stored, or given up. */
  onLess: () => void = () => {};

  constructor(context: ClientContext) {
    const { link, settings } = context;
    this.#context = context;
    this.packer = new Packer(settings.maxBatch);
    this.#publisher = new Publisher(link, settings.storeTimeout);
    this.#publisher.onRoom = () => this.#flush();
    this.#publisher.onMissing = () => void this.#open();
    link.on('up', () => void this.#open()).on('down', (error) => this.#down(error));
  }

  /** Throws MILLRACE_E_OVERLOADED when there is no room for another task. */
  checkRoom(): void {
    const { counts, settings } = this.#context;
    if (this.size < settings.maxQueue) return;
    counts.refused++;
    throw new MillraceError(
      'MILLRACE_E_OVERLOADED',
      `${settings.maxQueue} tasks wait to be stored (maxQueue); send fewer, or raise it`,
    );
  }

  add(call: Call): void {
    this.size++;
    this.packer.add(call);
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    this.#flushSoon();
  }

  /** As a pool sends to its threads: so calls of a chain of microtasks are all in time. */
  readonly #flushSoon = onceAt(afterMicrotasks, () => this.#flush());

  /** Takes out one that waits. */
  remove(call: Call): void {
    call.state = 'gone';
    this.size--;
  }

  /** Rejects the tasks that have not been sent. */
  rejectWaiting(error: () => Error): void {
    for (const call of this.packer.takeAll()) this.#giveUp(call, error());
  }

  /** Rejects all. */
  close(error: () => Error): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.rejectWaiting(error);
    this.#publisher.close(error);
  }

  /** Messages that the broker has stored, and those that were sent again. */
  get stored(): { stored: number; resent: number } {
    const { stored, resent } = this.#publisher;
    return { stored, resent };
  }

  #flush(): void {
    if (!this.#isOpen && this.#context.link.state === 'up') void this.#open();
    while (!this.#publisher.isBusy) {
      const calls = this.packer.next(performance.now());
      if (calls === null) return;
      void this.#store(calls);
    }
  }

  async #store(calls: readonly Call[]): Promise<void> {
    const { counts, link, names } = this.#context;
    const [{ id, hasOwnId, priority, deadlineMs }] = calls as [Call];
    const message = ++counts.messages;
    for (const call of calls) Object.assign(call, { state: 'sent', message });
    counts.packed += calls.length;
    const records = calls.map(({ record }) => record);
    const subject = names.subject(priorities[priority]!);
    // Ids of users and others never meet.
    const headers = { [headerNames.id]: hasOwnId ? `id:${token(id)}` : `pack:${id}` };
    try {
      const payload = encodeBatch(link.node, message, records);
      const stored = await this.#publisher.store(subject, payload, headers, deadlineMs);
      this.size -= calls.length;
      for (const call of calls) {
        call.state = 'stored';
        call.sequence = stored.sequence;
        call.onStored(stored);
      }
    } catch (error) {
      this.size -= calls.length;
      if ((error as MillraceError).code === 'MILLRACE_E_OVERLOADED') counts.refused += calls.length;
      for (const call of calls) call.onFailed(error);
    }
    this.onLess();
  }

  #giveUp(call: Call, error: Error): void {
    this.remove(call);
    call.onFailed(error);
    this.onLess();
  }

  #sweep(): void {
    for (const call of this.packer.overdue(performance.now())) {
      const why = this.#failure?.message ?? 'the broker does not take it';
      const { storeTimeout } = this.#context.settings;
      const text = `not stored within ${storeTimeout} ms, it was not sent: ${why}`;
      this.#giveUp(call, failure(text, this.#failure ?? undefined));
    }
    if (!this.packer.isEmpty) {
      this.#flush();
      return;
    }
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  // ------------------------------------------------------------------------------------------------ the stream

  #open(): Promise<void> {
    this.#opening ??= this.#openOnce().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #openOnce(): Promise<void> {
    const { link, names, settings } = this.#context;
    const { stream, storeTimeout } = settings;
    try {
      const { duplicateWindowMs } = await openStreams(link, names, stream);
      if (storeTimeout > duplicateWindowMs) {
        throw failure(
          `the stream ${names.stream} has a duplicateWindow of ${duplicateWindowMs} ms, which is less than the storeTimeout of ${storeTimeout} ms; lower that, or change the stream by nats stream edit`,
        );
      }
      await this.#publisher.open();
      this.#isOpen = true;
      this.#failure = null;
      this.#flush();
    } catch (error) {
      // A connection that went away meanwhile is tried again; a broker that has just started may need a moment.
      if (link.state !== 'up' || this.#isOpen) return;
      this.#failure = error as MillraceError;
      this.rejectWaiting(() => error as Error);
    }
  }

  #down(error: MillraceError): void {
    this.#failure = error;
    if (isLasting(error)) this.rejectWaiting(() => error);
  }
}
