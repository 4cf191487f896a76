import { healthHandler } from '@millrace/cluster';
import { Query } from '../http/query.js';

/** State of the service, by its share of the machine: a fraction of a millisecond, if the loop is free. */
export function healthRoutes(app, { monitor }) {
  app.get('/health', (request, response) => {
    new Query(request).end();
    response.json({ status: 'ok', ...monitor.health() });
  });

  /** Reports whether the loop turns, and nothing else. */
  app.get('/livez', (_, response) => {
    response.json({ status: 'alive' });
  });

  /** Health of all processes, with --cluster; else of this one. */
  app.get('/health/cluster', healthHandler);
}
