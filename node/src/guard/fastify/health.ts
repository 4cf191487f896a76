/** A health check of the application: asked again and again, and never waited for without end. */
import { clearTimeout, setTimeout } from '../../core/timers.cjs';
import type { HealthOptions } from './limits.js';
import type { FastifyInstance } from './types.js';

export class HealthCheck {
  /** What the last check said. Unhealthy until one has said otherwise. */
  healthy = false;

  readonly #options: HealthOptions;
  readonly #fastify: FastifyInstance;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** Number of the newest check: an answer to an older one is out of date. */
  #newest = 0;

  constructor(fastify: FastifyInstance, options: HealthOptions) {
    this.#fastify = fastify;
    this.#options = options;
  }

  /** Checks once, and from then on. */
  async start(): Promise<void> {
    await this.#check();
    if (this.#options.intervalMs > 0) this.#arm();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Asks the check; what it answers. Rejects when it throws, rejects, or has not answered in time. */
  ask(): Promise<unknown> {
    return this.#inTime(this.#call());
  }

  async #call(): Promise<unknown> {
    return this.#options.check(this.#fastify);
  }

  async #check(): Promise<void> {
    const number = ++this.#newest;
    const answer = this.#call();
    // Even when it comes late, it is the newest there is.
    answer.then(
      (result) => {
        if (number === this.#newest) this.healthy = Boolean(result);
      },
      () => {},
    );
    try {
      await this.#inTime(answer);
    } catch (error) {
      this.healthy = false;
      this.#fastify.log.error({ err: error }, 'the health check failed: the service is unhealthy');
    }
  }

  /** The next check is a while after the end of this one, so that they never run side by side. */
  #arm(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      void this.#check().then(() => this.#arm());
    }, this.#options.intervalMs);
    this.#timer.unref();
  }

  #inTime(answer: Promise<unknown>): Promise<unknown> {
    const { timeoutMs } = this.#options;
    if (timeoutMs === 0) return answer;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`the health check has not answered within ${timeoutMs} ms`));
      }, timeoutMs);
      timer.unref();
      answer.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}
