import { monitor as watch } from '@millrace/monitor';
import { HttpError } from '../http/errors.js';
import { MOST_STREAMS } from '../settings.js';

const EVERY_MS = 250;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Nothing follows the last event on this connection.
  connection: 'close',
};

/** A page that reads slower than this has its connection closed; it comes back by itself. */
const MOST_WAITING = 256 * 1024;

/** Activity of the service, four times a second, as server-sent events to every page that listens; nothing when none does. */
export function eventRoutes(app, service) {
  const streams = new Set();
  let timer;
  let own;

  function begin() {
    // Of its own: what the cores did is told since they were asked last, by whomever.
    own = watch({ window: 1000 });
    timer = setInterval(() => tell(figures(service, own)), EVERY_MS);
  }

  function end() {
    clearInterval(timer);
    own.stop();
  }

  function tell(data) {
    for (const stream of streams) {
      stream.write(`data: ${JSON.stringify(data)}\n\n`);
      if (stream.writableLength > MOST_WAITING) stream.destroy();
    }
  }

  app.get('/events', (request, response) => {
    if (streams.size >= MOST_STREAMS) {
      const text = `${MOST_STREAMS} pages listen already.`;
      throw new HttpError('overloaded', text, { retryAfter: 10 });
    }
    response.writeHead(200, HEADERS);
    response.write('retry: 1000\n\n');
    if (streams.size === 0) begin();
    streams.add(response);
    response.on('close', () => {
      streams.delete(response);
      if (streams.size === 0) end();
    });
  });

  return {
    close() {
      for (const stream of streams) stream.end();
    },
  };
}

function figures({ pool }, own) {
  const { cpu, memory, utilization } = own.health();
  const { queued, running, workers } = pool.stats();
  return {
    busy: cpu.cores.each.map(({ idleShare }) => 1 - idleShare),
    utilization,
    queued: queued.total,
    running,
    workers: workers.total,
    rss: memory.process.rss,
  };
}
