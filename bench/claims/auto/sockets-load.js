/** Clients of ws that do something at a fixed rate, however long the server takes for it, and count what comes of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { countingClients } from './counting-clients.js';

/** Ms between two looks at what is due; what is due by then is done at once. */
const TICK_MS = 1;

/**
 * A load of the kind `script`.
 *
 * @param {(about: { url: string, connections: number }) => Talk} begin gives what the clients of one call do
 *
 * @typedef {Parameters<typeof countingClients>[1] & Acts} Talk
 *
 * @typedef {object} Acts
 * @property {number} rate acts a second
 * @property {(client: import('ws').WebSocket) => void} [open] begins a conversation
 * @property {() => Promise<boolean>} [isReady] asked again until it is so, when all have joined
 * @property {(number: number, clients: import('ws').WebSocket[]) => void | Promise<void>} act done for each number from 0
 * @property {number} deliveries that one act brings
 */
export function socketsLoad(begin) {
  return function load({ seconds, ...options }) {
    const talk = begin(options);
    return countingClients(options, talk, async ({ clients, faults, joined, seen, settled }) => {
      for (const client of clients) talk.open?.(client);
      await joined();
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
      await settled(wanted);
      if (seen() !== wanted) faults.add(`${seen()} of ${wanted} deliveries came`);
    });
  };
}
