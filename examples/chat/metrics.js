import { collectDefaultMetrics, Registry } from 'prom-client';

/**
 * Metrics for Prometheus: the process as prom-client sees it, and what millrace counts. Made by the first request for it, so that a
 * server that nobody scrapes has nothing of it.
 *
 * @param {string} policy the arm `direct` does not load millrace at all
 * @returns {() => Promise<{type: string, text: string}>}
 */
export function createMetrics(policy) {
  let made;

  async function make() {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    if (policy !== 'direct') {
      const { prometheus } = await import('@millrace/monitor/metrics');
      prometheus({ register: registry });
    }
    return registry;
  }

  return async () => {
    made ??= make();
    const registry = await made;
    return { type: registry.contentType, text: await registry.metrics() };
  };
}
