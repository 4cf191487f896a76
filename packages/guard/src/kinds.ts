/** Determines route, class and cohort of a request: the user's functions have precedence over the guard's own findings. */
import type { IncomingMessage } from 'node:http';
import { MillraceError, show } from '@millrace/base/errors';
import {
  type ClassIndex,
  classInHeader,
  exempt,
  type RequestClass,
  toClassIndex,
} from './classes.js';
import { type Cohort, CohortTable } from './cohorts.js';
import type { CompleteOptions } from './options.js';
import type { Route, RouteTable } from './routes.js';

export class Kinds {
  readonly #options: CompleteOptions;
  readonly #routes: RouteTable;
  readonly #cohorts: CohortTable;

  constructor(options: CompleteOptions, routes: RouteTable) {
    this.#options = options;
    this.#routes = routes;
    this.#cohorts = new CohortTable(options.maxCohorts);
  }

  /** Returns the route of a request; `name` is the adapter's name for it. */
  routeOf(req: IncomingMessage, name: string | undefined): Route {
    const { method = 'GET' } = req;
    // Express and Connect cut the mount path of middleware off `url`.
    const url = (req as { originalUrl?: string }).originalUrl ?? req.url ?? '/';
    if (this.#options.route === null) {
      if (name === undefined) return this.#routes.byUrl(method, url);
      return this.#routes.byName(`${method} ${name}`, method, name);
    }
    const given = this.#options.route(req);
    if (typeof given !== 'string') {
      throw new MillraceError(
        'MILLRACE_E_BAD_RESULT',
        `option 'route' returned ${show(given)} for ${method} ${show(url)}; it must return a name`,
      );
    }
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    return this.#routes.byName(given, method, name ?? path);
  }

  /** Returns the cohort of a request. */
  cohortOf(req: IncomingMessage): Cohort {
    const { cohort } = this.#options;
    if (cohort === null) return this.#cohorts.none;
    const name: unknown = cohort(req);
    if (name === undefined || typeof name === 'string') return this.#cohorts.byName(name);
    throw new MillraceError(
      'MILLRACE_E_BAD_RESULT',
      `option 'cohort' returned ${show(name)}; it must return a name, or undefined`,
    );
  }

  /** Returns the cohorts that had requests; none without the option. */
  cohorts(): Iterable<Cohort> {
    return this.#options.cohort === null ? [] : this.#cohorts.values();
  }

  /** Returns the class of a request; `known` is the adapter's knowledge of it. */
  classOf(req: IncomingMessage, route: Route, known: RequestClass | undefined): ClassIndex {
    const { classify, classHeader } = this.#options;
    if (classify !== null) {
      const name = classify(req);
      if (name !== undefined) {
        const cls = toClassIndex(name);
        if (cls === undefined) {
          throw new MillraceError(
            'MILLRACE_E_BAD_RESULT',
            `option 'classify' returned ${show(name)}; it must return 'high', 'normal', 'low', 'exempt', or undefined`,
          );
        }
        return cls;
      }
    }
    const byRoute = known === undefined ? route.cls : toClassIndex(known)!;
    // A probe that carries a client's header is still a probe.
    if (classHeader === null || byRoute === exempt) return byRoute;
    return classInHeader(req, classHeader) ?? byRoute;
  }
}
