/**
 * Clients of Engine.IO 4 that count what they receive, while a request asks for the next burst every 20 ms. They speak it by hand, as far
 * as a server that only broadcasts needs it.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';

/** Ms from one burst to the next. */
const GAP_MS = 20;
/** Ms without anything new, after which nothing is under way any more. */
const QUIET_MS = 500;

export default async function load({ url, seconds, connections, signal }) {
  const address = `${url.replace('http', 'ws').replace(/\/$/, '')}/socket.io/?EIO=4&transport=websocket`;
  const faults = new Set();
  const counts = Array.from({ length: connections }, () => 0);
  let joined = 0;
  let bytes = 0;
  const clients = counts.map((_, n) => {
    const client = new WebSocket(address, { perMessageDeflate: false });
    let last = -1;
    client.on('message', (data) => {
      const text = String(data);
      if (text[0] === '0') client.send('40');
      else if (text === '2') client.send('3');
      else if (text.startsWith('40')) joined += 1;
      else {
        const number = Number.parseInt(JSON.parse(text.slice(2))[1], 10);
        if (!(number > last)) faults.add(`client ${n} got ${number} after ${last}`);
        last = number;
        counts[n] += 1;
        bytes += text.length;
      }
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
    while (joined < connections) await sleep(5);
    const bursts = Math.round((seconds * 1000) / GAP_MS);
    for (let n = 0; n < bursts; n++) {
      const next = sleep(GAP_MS);
      await (await fetch(`${url.replace(/\/$/, '')}/burst`)).text();
      await next;
    }
    let seen = -1;
    for (let all = 0; seen !== all; ) {
      seen = counts.reduce((sum, count) => sum + count, 0);
      await sleep(QUIET_MS);
      all = counts.reduce((sum, count) => sum + count, 0);
    }
    if (counts.some((count) => count !== counts[0])) faults.add('clients got different numbers');
    return {
      work: [{ name: 'deliveries', answers: seen, status: { 200: seen }, bytes: bytes / seen }],
      values: { bursts, per_burst: counts[0] / bursts },
      faults: [...faults],
    };
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}
