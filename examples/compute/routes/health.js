import { healthHandler } from 'millrace/cluster';
import { Query } from '../http/query.js';

/** How the service is, by what it may use of the machine: a fraction of a millisecond, if the loop is free. */
export function healthRoutes(app, { monitor }) {
  app.get('/health', (request, response) => {
    new Query(request).end();
    response.json({ status: 'ok', ...monitor.health() });
  });

  /** Of all processes, with --cluster; else of this one. */
  app.get('/health/cluster', healthHandler);
}
