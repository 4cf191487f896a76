/** Clients of ws that count what they receive; each sees whether numbers rise. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';

/** Ms between two looks at who has joined. */
const TICK_MS = 1;
/** Ms without anything new, after which nothing is under way any more. */
const QUIET_MS = 500;

/**
 * Opens the clients, calls `use`, and closes them.
 *
 * @param {{ url: string, connections: number, signal: AbortSignal }} of a load of the kind `script`
 * @param {object} speech
 * @param {(n: number) => string} speech.path of client n, from 0
 * @param {string} [speech.protocol] subprotocol of its socket
 * @param {(text: string, client: WebSocket) => number | 'joined' | undefined} speech.read what a message says: the number of a
 *   delivery, which rises at each client, that the client has joined, or nothing
 * @param {(crowd: Crowd) => Promise<object | void>} use may give `values` of the result
 *
 * @typedef {object} Crowd
 * @property {WebSocket[]} clients
 * @property {number[]} counts deliveries of each
 * @property {Set<string>} faults
 * @property {() => number} seen deliveries of all
 * @property {() => Promise<void>} joined resolves when all have joined
 * @property {(wanted?: number) => Promise<void>} settled resolves when there are so many deliveries, or no more come
 */
export async function countingClients({ url, connections, signal }, speech, use) {
  const faults = new Set();
  const counts = Array.from({ length: connections }, () => 0);
  let joined = 0;
  let bytes = 0;
  const clients = counts.map((_, n) => {
    const address = new URL(speech.path(n), url.replace('http', 'ws'));
    const client = new WebSocket(address, speech.protocol ?? [], { perMessageDeflate: false });
    let last = -1;
    client.on('message', (data) => {
      const text = String(data);
      const what = speech.read(text, client);
      if (what === 'joined') joined += 1;
      if (typeof what !== 'number') return;
      if (!(what > last)) faults.add(`client ${n} got ${what} after ${last}`);
      last = what;
      counts[n] += 1;
      bytes += text.length;
    });
    client.on('error', ({ message }) => faults.add(message));
    return client;
  });
  const end = () => {
    for (const client of clients) client.terminate();
  };
  const seen = () => counts.reduce((sum, count) => sum + count, 0);
  signal.addEventListener('abort', end, { once: true });
  try {
    await Promise.all(clients.map((client) => once(client, 'open')));
    const values = await use({
      ...{ clients, counts, faults, seen },
      async joined() {
        while (joined < connections) await sleep(TICK_MS);
      },
      async settled(wanted = Number.POSITIVE_INFINITY) {
        for (let before = -1; seen() < wanted && before !== seen(); ) {
          before = seen();
          await sleep(QUIET_MS);
        }
      },
    });
    const answers = seen();
    return {
      work: [{ name: 'deliveries', answers, status: { 200: answers }, bytes: bytes / answers }],
      ...(values && { values }),
      faults: [...faults],
    };
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}
