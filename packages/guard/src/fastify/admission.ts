/** Passes Fastify's requests through the guard. */
import { refused } from '@millrace/base/options';
import { type ClassIndex, type RequestClass, toClassIndex } from '../classes.js';
import type { Guard } from '../guard.js';
import { isNew } from '../http/exchange.js';
import type { ShedReason } from '../reasons.js';
import type { Route } from '../routes.js';
import { type Rejection, Ticket } from '../ticket.js';
import type { Done, Refusal } from './refusal.js';
import {
  type FastifyContextConfig,
  type FastifyReply,
  type FastifyRequest,
  TYPE_PREDICTED_WAIT,
  TYPE_QUEUE_AGE,
  TYPE_QUEUE_FULL,
} from './types.js';

/** Value of a route's `config.guard`: false for no guard, a class, or undefined to leave it to the guard. */
type RoutePolicy = false | RequestClass | undefined;

/** Throws MILLRACE_E_INVALID_OPTION. */
export function routePolicy(given: unknown): RoutePolicy {
  if (given === undefined || given === null) return undefined;
  if (given === false) return false;
  const { class: cls } = given as { class?: RequestClass };
  const isKnown = cls === undefined || toClassIndex(cls) !== undefined;
  if (typeof given === 'object' && isKnown) return cls;
  const [name, value] = cls === undefined ? ['config.guard', given] : ['config.guard.class', cls];
  const why = "false, or an object with 'class' one of 'high', 'normal', 'low', 'exempt'";
  throw refused('a route', name, value, why);
}

/** Type for a pressure handler, by the guard's reason. */
const types: Readonly<Partial<Record<ShedReason, string>>> = {
  wait: TYPE_PREDICTED_WAIT,
  age: TYPE_QUEUE_AGE,
  full: TYPE_QUEUE_FULL,
};

export class Admission {
  readonly #guard: Guard;
  readonly #refusal: Refusal;
  /** URLs of the status route. */
  readonly #exempt: ReadonlySet<string>;
  /** Policies by the config object of each route. */
  readonly #policies = new WeakMap<object, RoutePolicy>();

  constructor(guard: Guard, refusal: Refusal, exempt: ReadonlySet<string>) {
    this.#guard = guard;
    this.#refusal = refusal;
    this.#exempt = exempt;
  }

  /** Calls `done` now or when it is the request's turn, or refuses it. */
  admit(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const { config, url = '' } = request.routeOptions;
    const policy = this.#policyOf(config, url);
    // A request that has passed a guard before the server, or in an outer plugin, does not wait again.
    if (policy === false || !isNew(request.raw, this.#guard)) done();
    else this.#guard.admit(this.#ticket(request, reply, done, policy, url));
  }

  /**
   * Refuses a request by a limit or the health check as the guard does: counted, delayed, and with a stale copy if there is one.
   * Returns false if a pressure handler decides, or the request does not belong to the guard.
   */
  reject(request: FastifyRequest, reply: FastifyReply, done: Done, isHealthy: boolean): boolean {
    const { config, url = '' } = request.routeOptions;
    const policy = this.#policyOf(config, url);
    const hasHandler = this.#refusal.handlerOf(config) !== undefined;
    if (policy === false || (hasHandler && !this.#guard.options.observe)) return false;
    // An injected request has no connection and no crowd behind it: it is answered at once.
    if (typeof request.raw.socket?.ref !== 'function') return false;
    if (!isNew(request.raw, this.#guard)) return false;
    const ticket = this.#ticket(request, reply, done, policy, url);
    this.#guard.reject(ticket, isHealthy ? 'pressure' : 'unhealthy');
    return true;
  }

  #policyOf(config: FastifyContextConfig, url: string): RoutePolicy {
    let policy = this.#policies.get(config);
    if (policy === undefined && !this.#policies.has(config)) {
      policy = this.#exempt.has(url) ? 'exempt' : routePolicy(config.guard);
      this.#policies.set(config, policy);
    }
    return policy;
  }

  #ticket(
    request: FastifyRequest,
    reply: FastifyReply,
    done: Done,
    policy: RequestClass | undefined,
    url: string,
  ): Ticket {
    const { raw } = request;
    // Without a URL no route has matched: it is counted by its own path.
    const route = this.#guard.routeOf(raw, url || undefined);
    const cls = this.#guard.classOf(raw, route, policy);
    return new FastifyTicket(request, reply, cls, route, this.#refusal, done);
  }
}

class FastifyTicket extends Ticket {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #refusal: Refusal;
  readonly #done: Done;

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    cls: ClassIndex,
    route: Route,
    refusal: Refusal,
    done: Done,
  ) {
    super(request.raw, reply.raw, cls, route);
    this.#request = request;
    this.#reply = reply;
    this.#refusal = refusal;
    this.#done = done;
  }

  override run(): void {
    this.#done();
  }

  /** Drops the rest of Fastify's response. */
  override answered(): void {
    this.#reply.hijack();
  }

  override shed({ reason, waitMs, retryAfterSeconds }: Rejection): void {
    const done = this.#done;
    const type = types[reason];
    try {
      if (type === undefined) done(this.#refusal.prepare(this.#reply));
      else {
        const why = { type, value: waitMs, retryAfter: retryAfterSeconds };
        this.#refusal.answer(this.#request, this.#reply, why, done, done);
      }
    } catch (error) {
      done(error as Error);
    }
  }
}
