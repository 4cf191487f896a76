/**
 * Clients of Engine.IO 4 that count what they receive, while a request asks for the next burst every 20 ms. They speak it by hand, as far
 * as a server that only broadcasts needs it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { countingClients } from './counting-clients.js';

/** Ms from one burst to the next. */
const GAP_MS = 20;

function read(text, client) {
  if (text[0] === '0') client.send('40');
  else if (text === '2') client.send('3');
  else if (text.startsWith('40')) return 'joined';
  else return Number.parseInt(JSON.parse(text.slice(2))[1], 10);
  return undefined;
}

export default function load(options) {
  const speech = { path: () => '/socket.io/?EIO=4&transport=websocket', read };
  return countingClients(options, speech, async ({ counts, faults, joined, settled }) => {
    await joined();
    const bursts = Math.round((options.seconds * 1000) / GAP_MS);
    for (let n = 0; n < bursts; n++) {
      const next = sleep(GAP_MS);
      await (await fetch(`${options.url.replace(/\/$/, '')}/burst`)).text();
      await next;
    }
    await settled();
    if (counts.some((count) => count !== counts[0])) faults.add('clients got different numbers');
    return { bursts, per_burst: counts[0] / bursts };
  });
}
