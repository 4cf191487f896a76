/**
 * Runs the application's health check repeatedly, with a time limit, and serves the route with the state of the service for load balancers
 * and orchestrators.
 */
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import type { HealthOptions } from './limits.js';
import type { Refusal } from './refusal.js';
import type { FastifyInstance, FastifyReply, FastifyRequest, StatusRouteOptions } from './types.js';

export class HealthCheck {
  /** Result of the last check. Unhealthy until one succeeds. */
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

  /** Checks now, and then at intervals. */
  async start(): Promise<void> {
    await this.#check();
    if (this.#options.intervalMs > 0) this.#arm();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Calls the check and returns its answer. Rejects when it throws, rejects, or has not answered in time. */
  ask(): Promise<unknown> {
    return this.#inTime(this.#call());
  }

  async #call(): Promise<unknown> {
    return this.#options.check(this.#fastify);
  }

  async #check(): Promise<void> {
    const number = ++this.#newest;
    const answer = this.#call();
    // Even a late answer is the newest there is.
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

// ---- the route

interface ResponseSchema extends Record<string, unknown> {
  properties?: Record<string, unknown>;
}

/** Adds the route. */
export function addStatusRoute(
  fastify: FastifyInstance,
  options: StatusRouteOptions,
  health: HealthCheck | null,
  refusal: Refusal,
): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    if (health === null) return { status: 'ok' };
    try {
      const answer = await health.ask();
      if (answer) return Object.assign({ status: 'ok' }, answer);
      request.log.error('the health check says that the service is unhealthy');
    } catch (error) {
      request.log.error({ err: error }, 'the health check failed');
    }
    throw refusal.prepare(reply);
  };
  const { routeOpts, url = '/status', ...schema } = options;
  fastify.route({ ...routeOpts, method: 'GET', url, schema: statusSchema(schema), handler });
}

function statusSchema({ routeSchemaOpts, routeResponseSchemaOpts }: StatusRouteOptions) {
  const { response = {}, ...request } = (routeSchemaOpts ?? {}) as {
    response?: Record<string, ResponseSchema>;
  };
  const { 200: success, ...failures } = response;
  return {
    ...request,
    response: {
      200: {
        type: 'object',
        description: 'Health Check Succeeded',
        example: { status: 'ok' },
        ...success,
        properties: {
          status: { type: 'string' },
          ...routeResponseSchemaOpts,
          ...success?.properties,
        },
      },
      500: errorSchema('Error Performing Health Check', {
        message: text('Error message for failure during health check', 'Internal Server Error'),
        statusCode: statusCode(500),
      }),
      503: errorSchema('Health Check Failed', {
        code: text('Error code associated with the failing check', 'FST_UNDER_PRESSURE'),
        error: text('Error thrown during health check', 'Service Unavailable'),
        message: text('Error message to explain health check failure', 'Service Unavailable'),
        statusCode: statusCode(503),
      }),
      ...failures,
    },
  };
}

function errorSchema(description: string, properties: Record<string, object>) {
  return { type: 'object', description, properties };
}

function text(description: string, example: string) {
  return { type: 'string', description, example };
}

function statusCode(example: number) {
  const description = 'Code representing the error. Always matches the HTTP response code.';
  return { type: 'number', description, example };
}
