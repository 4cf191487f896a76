/** Clients of ws that do something at a fixed rate, however long the server takes for it, and count what comes of it. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';

/** Ms between two looks at what is due; what is due by then is done at once. */
const TICK_MS = 1;
/** Ms without anything new, after which nothing is under way any more. */
const QUIET_MS = 500;

/**
 * A load of the kind `script`.
 *
 * @param {(about: { url: string, connections: number }) => Talk} begin gives what the clients of one call do
 *
 * @typedef {object} Talk
 * @property {(n: number) => string} path of client n, from 0
 * @property {string} [protocol] subprotocol of its socket
 * @property {number} rate acts a second
 * @property {(client: WebSocket) => void} [open] begins a conversation
 * @property {(text: string, client: WebSocket) => number | 'joined' | undefined} read what a message says: the number of a
 *   delivery, which rises at each client, that the client has joined, or nothing
 * @property {() => Promise<boolean>} [isReady] asked again until it is so, when all have joined
 * @property {(number: number, clients: WebSocket[]) => void | Promise<void>} act done for each number from 0
 * @property {number} deliveries that one act brings
 */
export function socketsLoad(begin) {
  return async function load({ url, seconds, connections, signal }) {
    const talk = begin({ url, connections });
    const faults = new Set();
    let joined = 0;
    let seen = 0;
    let bytes = 0;
    const clients = Array.from({ length: connections }, (_, n) => {
      const address = new URL(talk.path(n), url.replace('http', 'ws'));
      const client = new WebSocket(address, talk.protocol ?? [], { perMessageDeflate: false });
      let last = -1;
      client.on('message', (data) => {
        const text = String(data);
        const what = talk.read(text, client);
        if (what === 'joined') joined += 1;
        if (typeof what !== 'number') return;
        if (what <= last) faults.add(`client ${n} got ${what} after ${last}`);
        last = what;
        seen += 1;
        bytes += text.length;
      });
      client.on('error', ({ message }) => faults.add(message));
      return client;
    });
    const end = () => {
      for (const client of clients) client.terminate();
    };
    signal.addEventListener('abort', end, { once: true });
    try {
      await Promise.all(clients.map((client) => once(client, 'open')));
      for (const client of clients) talk.open?.(client);
      while (joined < connections) await sleep(TICK_MS);
      while (talk.isReady && !(await talk.isReady())) await sleep(TICK_MS);
      const all = Math.round(seconds * talk.rate);
      const acts = [];
      const start = performance.now();
      for (let done = 0; done < all; ) {
        const due = Math.min(all, Math.ceil(((performance.now() - start) / 1000) * talk.rate));
        for (; done < due; done++) acts.push(talk.act(done, clients));
        await sleep(TICK_MS);
      }
      await Promise.all(acts);
      const wanted = all * talk.deliveries;
      for (let before = -1; seen < wanted && before !== seen; ) {
        before = seen;
        await sleep(QUIET_MS);
      }
      if (seen !== wanted) faults.add(`${seen} of ${wanted} deliveries came`);
      return {
        work: [{ name: 'deliveries', answers: seen, status: { 200: seen }, bytes: bytes / seen }],
        faults: [...faults],
      };
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  };
}
