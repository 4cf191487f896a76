/**
 * Comments at an interval that keep event streams in use, for proxies that end an idle connection. The timer runs while there are streams,
 * and keeps no process alive.
 */
import { clearInterval, setInterval } from '@millrace/base/timers';
import type { StreamMember } from './stream-member.js';
import { sendComments } from './stream-sending.js';

export class Heartbeat {
  readonly #intervalMs: number;
  readonly #streams = new Set<StreamMember>();
  #timer: NodeJS.Timeout | null = null;

  /** 0: no comments. */
  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  add(stream: StreamMember): void {
    if (this.#intervalMs === 0) return;
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => sendComments(this.#streams), this.#intervalMs).unref();
  }

  delete(stream: StreamMember): void {
    this.#streams.delete(stream);
    if (this.#streams.size === 0) this.close();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#streams.clear();
  }
}
