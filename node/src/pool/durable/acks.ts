/** Tells the broker what became of messages. An acknowledgement that may have been lost with the connection is sent again. The subject '' is that of a message that is gone. */
import type { Link } from '../../broker/link.js';

const ACK = Buffer.from('+ACK');
const WORKING = Buffer.from('+WPI');
/** How often it is made sure that the broker has them. */
const proveMs = 1000;

export class Acks {
  readonly #link: Link;
  /** Those that the broker may not have. */
  #unproven: string[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(link: Link) {
    this.#link = link;
    link.on('up', this.#up);
  }

  /** Done with. Those of a turn leave in one write. */
  ack(subject: string): void {
    if (subject === '' || this.#isClosed) return;
    this.#link.publish(subject, ACK);
    this.#unproven.push(subject);
    this.#timer ??= setTimeout(() => void this.#prove(), proveMs);
  }

  /** To be delivered again, after so many ms. Where it is lost, it comes after the time for acknowledgement. */
  nak(subject: string, delayMs: number): void {
    if (subject === '') return;
    const delay = Math.round(delayMs * 1_000_000);
    this.#link.publish(
      subject,
      Buffer.from(delay === 0 ? '-NAK' : `-NAK ${JSON.stringify({ delay })}`),
    );
  }

  /** Still at it: the time for acknowledgement begins anew. */
  working(subject: string): void {
    if (subject !== '') this.#link.publish(subject, WORKING);
  }

  /** The stream has been made anew: what was of the old one would mean others of its messages. */
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
    this.#timer = this.#unproven.length > 0 ? setTimeout(() => void this.#prove(), proveMs) : null;
  }
}
