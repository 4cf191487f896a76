/** The chat of examples/chat, its arms, and what its clients ask of it. */
import { fileURLToPath } from 'node:url';
import { bySize } from '@millrace/lab/experiment';

const CHAT = fileURLToPath(new URL('../../../examples/chat/server.js', import.meta.url));
const STOCKED = fileURLToPath(new URL('stocked.js', import.meta.url));

/**
 * Reports whether frames have shared a write, messages a transaction, or requests a query for history: the server's own counters since
 * its start.
 */
const hasGathered = (stats) =>
  stats.socket_writes < stats.delivered_frames ||
  stats.insert_batches < stats.insert_items ||
  stats.history_queries < stats.history_requests;

/** Reports whether the server has made anything of millrace, whatever it says. */
const hasMillrace = ({ probe }) => Object.keys(probe?.millrace ?? {}).length > 0;

/**
 * The arms: `direct` without millrace; `fixed` delays of 50 and 200 ms, the ends of the paper's range; and `adaptive` with three
 * budgets, which are the longest delays that it may choose: 0, 5 and 50 ms. The last is that of `fixed 50 ms`.
 *
 * @param {object} [options]
 * @param {boolean} [options.stocked] with rooms and a page of history from the start, see stocked.js
 * @param {boolean} [options.gathers] whether there is anything in the load that could be gathered; else the server's word for
 *   its policy is all the proof there is
 * @returns {Record<'direct' | 'fixed50' | 'fixed200' | 'adaptive' | 'adaptive5' | 'adaptive50',
 *   import('../../../packages/lab/experiment/format.js').Arm>}
 */
export function arms({ stocked = false, gathers = true } = {}) {
  const arm = (name, policy, maxDelay) => ({
    name,
    command: [
      ...[process.execPath, stocked ? STOCKED : CHAT, '--port', '0', '--quiet'],
      ...['--flood-limit', '0', '--policy', policy, '--max-delay', `${maxDelay}`],
    ],
    // SQLite, whatever the chats of this machine use otherwise.
    env: { DATABASE_URL: '', NODE_ENV: 'production' },
    stats: '/stats',
    isOn: (run) =>
      policy === 'direct'
        ? (run.stats?.policy ?? policy) !== policy || hasMillrace(run)
        : run.stats?.policy === policy &&
          run.stats.max_delay_ms === maxDelay &&
          (hasGathered(run.stats) || !gathers),
  });
  return {
    direct: arm('direct', 'direct', 0),
    fixed50: arm('fixed 50 ms', 'fixed', 50),
    fixed200: arm('fixed 200 ms', 'fixed', 200),
    adaptive: arm('adaptive', 'adaptive', 0),
    adaptive5: arm('adaptive, up to 5 ms', 'adaptive', 5),
    adaptive50: arm('adaptive, up to 50 ms', 'adaptive', 50),
  };
}

/** Clients in a room: a message that is sent is delivered this many times. */
export const ROOM = 50;

export const SIZE =
  'At the paper’s size there are 2,000 clients for 20 s; at medium size 1,000 for 3 s (HTTP: 200 for 2 s), in quick runs 200 for 0.8 s.';

/** The paper's size, half of it and a tenth. */
const connections = bySize({ quick: 200, medium: 1000, paper: 2000 });

/** Clients in rooms of 50, messages of 100 bytes; the measured time is 20 s as in the paper. */
export const clients = {
  kind: 'ws',
  protocol: 'chat',
  connections,
  rooms: (params) => connections(params) / ROOM,
  payload: 100,
  warmup: bySize({ quick: 0.4, medium: 1, paper: 2 }),
  seconds: ({ size, seconds = 20 }) => ({ quick: 0.8, medium: 3, paper: seconds })[size],
};

/**
 * Clients over HTTP, each asking again when it has its answer. At medium size they are fewer: a busy server accepts one
 * connection a turn, so that the last of 1,000 would have to wait for half a minute in each run.
 */
export const httpClients = {
  kind: 'http',
  connections: bySize({ quick: 200, medium: 200, paper: 2000 }),
  warmup: bySize({ quick: 0.4, medium: 0.5, paper: 2 }),
  seconds: bySize({ quick: 0.8, medium: 2, paper: 20 }),
  // The last of 2,000 connections is accepted late where the first are busy.
  timeout: 60,
};

/** Messages due at times that do not depend on the answers; `rate` of the case is in deliveries a second. */
export const atEqualLoad = {
  ...clients,
  mode: 'open',
  deliveriesRate: ({ rate }) => rate,
  // Whoever falls behind may finish: only then is the work of both equal.
  drain: 60,
};

/** @param {number} rate deliveries a second */
export const perSecond = (rate) => `${rate.toLocaleString('en-US')}/s`;
