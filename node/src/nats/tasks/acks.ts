/**
 * Acknowledgements of messages. The broker confirms none, so one may be lost with the connection; then its message would
 * come again although its task is done. Acknowledgements are kept until a flush has shown that the broker has them, and sent
 * again after a reconnect. The subject '' stands for a message whose stream is gone.
 */
import { clearTimeout, setTimeout } from '../../core/timers.cjs';
import type { Link } from '../link.js';

const ACK = Buffer.from('+ACK');
const WORKING = Buffer.from('+WPI');
/** How often it is checked that the broker has them. */
const flushMs = 1000;

export class Acks {
  readonly #link: Link;
  /** Subjects of acknowledgements that the broker may not have got. */
  #unproven: string[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(link: Link) {
    this.#link = link;
    link.on('up', this.#up);
  }

  /** The message is done with. The acknowledgements of a turn leave in one write. */
  ack(subject: string): void {
    if (subject === '' || this.#isClosed) return;
    this.#link.publish(subject, ACK);
    this.#unproven.push(subject);
    this.#timer ??= setTimeout(() => void this.#prove(), flushMs);
  }

  /** Asks for another delivery, after this many ms. If this is lost, the message comes again after the time for acknowledgement. */
  nak(subject: string, delayMs: number): void {
    if (subject === '') return;
    const delay = Math.round(delayMs * 1_000_000);
    this.#link.publish(
      subject,
      Buffer.from(delay === 0 ? '-NAK' : `-NAK ${JSON.stringify({ delay })}`),
    );
  }

  /** The message is still being worked on: the time for acknowledgement begins anew. */
  working(subject: string): void {
    if (subject !== '') this.#link.publish(subject, WORKING);
  }

  /** The stream was created anew: an acknowledgement of the old one would count for another message of this one. */
  forget(): void {
    this.#unproven.length = 0;
  }

  close(): void {
    this.#isClosed = true;
    this.#link.off('up', this.#up);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  readonly #up = () => {
    for (const subject of this.#unproven) this.#link.publish(subject, ACK);
  };

  async #prove(): Promise<void> {
    const count = this.#unproven.length;
    try {
      await this.#link.flush();
      this.#unproven.splice(0, count);
    } catch {
      // The connection is away; they are sent again when it is back.
    }
    if (this.#isClosed) return;
    this.#timer = this.#unproven.length > 0 ? setTimeout(() => void this.#prove(), flushMs) : null;
  }
}
