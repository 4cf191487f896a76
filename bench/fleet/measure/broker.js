/** Measures the cost of a broker, and of a node that talks to it. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startNats } from '../../../scripts/lib/nats.js';
import { rss, start, used } from './child.js';

const SECONDS = 3;
const CONNECTIONS = 500;

/**
 * @returns {Promise<{ publishUs: number, batchUs: number, inUs: number, outUs: number, subscriptionBytes: number, linkKb: number,
 *   brokerMb: number }>}
 */
export async function measureBroker(say) {
  const cpu = await withBroker(async ({ url, pid }) => {
    const tick = await alone(url, 'tick');
    const silent = await alone(url, 'publish', pid);
    const taken = await withTaker(url, pid);
    say(
      `${Math.round(silent.rate)} messages/s in: ${Math.round(silent.broker)} µs/s; ${Math.round(taken.out)} messages/s out: ${Math.round(taken.broker)} µs/s`,
    );
    const inUs = silent.broker / silent.rate;
    return {
      publishUs: (silent.own - tick.own) / silent.rate,
      batchUs: taken.taker / taken.out,
      inUs,
      outUs: (taken.broker - inUs * taken.rate) / taken.out,
    };
  });
  return { ...cpu, ...(await memory()) };
}

/** Measures one node that talks, with nobody who listens. */
async function alone(url, how, broker) {
  const talker = await start('talker.js', [url, how]);
  try {
    await sleep(500);
    const { count: before } = await talker.ask('count');
    const [own, its = 0] = await used([talker.pid, ...(broker ? [broker] : [])], SECONDS);
    const { count } = await talker.ask('count');
    return { own, broker: its, rate: (count - before) / SECONDS };
  } finally {
    await talker.stop();
  }
}

async function withTaker(url, broker) {
  const taker = await start('talker.js', [url, 'subscribe']);
  const talker = await start('talker.js', [url, 'publish']);
  try {
    await sleep(500);
    const counts = async () => Promise.all([taker, talker].map((each) => each.ask('count')));
    const before = await counts();
    const [its, own] = await used([broker, taker.pid], SECONDS);
    const after = await counts();
    const [out, rate] = after.map(({ count }, i) => (count - before[i].count) / SECONDS);
    return { broker: its, taker: own, out, rate };
  } finally {
    await Promise.all([taker.stop(), talker.stop()]);
  }
}

/** Measures the memory, each time of a new broker, as memory that was in use once may be used again. */
async function memory() {
  const subscriptions = await withBroker(async ({ url, pid }) => {
    const before = rss(pid);
    const child = await start('talker.js', [url, 'subjects']);
    const { count } = await child.ask('count');
    const bytes = (rss(pid) - before) / count;
    await child.stop();
    return { subscriptionBytes: bytes, brokerMb: before / 1e6 };
  });
  const linkKb = await withBroker(async ({ port, pid }) => {
    const before = rss(pid);
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => joined(port)));
    const bytes = (rss(pid) - before) / CONNECTIONS;
    for (const socket of sockets) socket.destroy();
    return bytes / 1e3;
  });
  return { ...subscriptions, linkKb };
}

/** A connection that the broker has taken. */
async function joined(port) {
  const socket = connect(port, '127.0.0.1');
  socket.write('CONNECT {"verbose":false}\r\nPING\r\n');
  let text = '';
  for await (const data of socket.iterator({ destroyOnReturn: false })) {
    text += data;
    if (text.includes('PONG')) break;
  }
  return socket;
}

async function withBroker(measure) {
  const server = await startNats();
  try {
    return await measure(server);
  } finally {
    await server.kill();
  }
}
