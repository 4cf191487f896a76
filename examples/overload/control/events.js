const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

/** A page that reads slower than this has its connection closed; it comes back by itself, and is told everything anew. */
const MOST_WAITING = 1024 * 1024;

/** Server-sent events: what the show does, to every page that listens. */
export class Events {
  #streams = new Set();
  #show;

  constructor(show) {
    this.#show = show;
    show.on('settings', () => this.#send('settings', settings(show)));
    show.on('point', (name) => {
      const { points, summary, load } = show.results[name];
      this.#send('point', { name, point: points.at(-1), summary, load });
    });
  }

  /** @param {import('node:http').ServerResponse} response */
  open(response) {
    const unwatch = this.#show.watch();
    response.writeHead(200, HEADERS);
    response.write('retry: 1000\n\n');
    response.write(event('results', this.#show.results));
    response.write(event('settings', settings(this.#show)));
    this.#streams.add(response);
    response.on('close', () => {
      this.#streams.delete(response);
      unwatch();
    });
  }

  close() {
    for (const response of this.#streams) response.end();
  }

  #send(name, data) {
    const text = event(name, data);
    for (const response of this.#streams) {
      response.write(text);
      if (response.writableLength > MOST_WAITING) response.destroy();
    }
  }
}

const event = (name, data) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

export const settings = ({ version, load, target, current }) => ({
  version,
  load,
  target,
  current,
});
