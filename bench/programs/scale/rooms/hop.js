/** Measures the latency over the broker: each message goes to the sender's own node and to a member of another. */
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '@millrace/lab/stats';
import { Refused } from '../../../lib/refused.js';
import { join } from './client.js';
import { startFleet } from './fleet.js';

const gapMs = 4;
const settleMs = 200;
const lateMs = 5000;
/** First ones that do not count: code is compiled, subscriptions are on their way. */
const dropped = 100;

/**
 * @param {string} subject
 * @param {number} many messages that count
 * @returns {Promise<{ local: Percentiles, remote: Percentiles }>} from sending a message until the member of the same node, and that of
 *   another, has it
 *
 * @typedef {{ p50_ms: number, p99_ms: number }} Percentiles
 */
export async function measureHop(subject, many) {
  const fleet = await startFleet({ subject, nodes: 2 });
  const sockets = [];
  try {
    const [local, remote] = [[], []];
    const note = (times) => (text) => times.push(performance.now() - Number(text));
    // One after another, so that they are at the first node and at the second.
    const sender = await join(fleet.port, note(local));
    sockets.push(sender, await join(fleet.port, note(remote)));
    await sleep(settleMs);
    for (let n = 0; n < many + dropped; n += 1) {
      sender.send(`${performance.now()}`);
      await sleep(gapMs);
    }
    const isAll = () => [local, remote].every(({ length }) => length === many + dropped);
    for (let waited = 0; !isAll() && waited < lateMs; waited += gapMs) await sleep(gapMs);
    for (const { length } of [local, remote]) {
      if (length !== many + dropped) {
        throw new Refused(`of ${many + dropped} messages ${length} came to a member`);
      }
    }
    return { local: percentiles(local), remote: percentiles(remote) };
  } finally {
    for (const socket of sockets) socket.terminate();
    await fleet.stop();
  }
}

function percentiles(times) {
  const counted = times.slice(dropped);
  return { p50_ms: quantile(counted, 0.5), p99_ms: quantile(counted, 0.99) };
}
