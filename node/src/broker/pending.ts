/** Bytes that have left and that the broker has not been seen to take: it is asked now and then how far it has got. */
import type { NatsConnection } from './client-types.js';

const mostProbeBytes = 256 * 1024;

/** What is under way on a connection, and how much may be. */
export class Pending {
  readonly most: number;
  /** How many bytes leave before the broker is asked. */
  readonly #probeBytes: number;
  #sent = 0;
  #taken = 0;
  #isProbing = false;
  /** Those that wait for an answer of the broker. The client leaves them waiting when it is closed. */
  readonly #waiting = new Set<(error: Error) => void>();

  constructor(most: number) {
    this.most = most;
    this.#probeBytes = Math.min(mostProbeBytes, most / 4);
  }

  get bytes(): number {
    return this.#sent - this.#taken;
  }

  /** Whether this many more may leave. More than `most` may, once nothing else is under way. */
  fits(bytes: number, connection: NatsConnection): boolean {
    if (this.bytes === 0 || this.bytes + bytes <= this.most) return true;
    this.#probe(connection);
    return false;
  }

  add(bytes: number, connection: NatsConnection): void {
    this.#sent += bytes;
    if (this.bytes >= this.#probeBytes) this.#probe(connection);
  }

  /** Resolves when the broker has read all that was sent before; rejects when the connection goes away meanwhile. */
  async flush(connection: NatsConnection): Promise<void> {
    const upTo = this.#sent;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.add(reject);
      connection
        .flush()
        .then(resolve, reject)
        .finally(() => this.#waiting.delete(reject));
    });
    this.#taken = Math.max(this.#taken, upTo);
  }

  /** Nothing is under way any more: it was lost with its connection, or a new one has begun. */
  forget(): void {
    this.#taken = this.#sent;
  }

  /** Rejects whoever waits. */
  end(error: Error): void {
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
  }

  #probe(connection: NatsConnection): void {
    if (this.#isProbing || connection.isClosed()) return;
    this.#isProbing = true;
    this.flush(connection).then(
      () => {
        this.#isProbing = false;
        if (this.bytes >= this.#probeBytes) this.#probe(connection);
      },
      () => {
        this.#isProbing = false;
      },
    );
  }
}
