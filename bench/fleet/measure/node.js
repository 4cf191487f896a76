/** Measures the cost of a node: memory of connections, CPU of messages. */
import { runLoad } from '@millrace/lab/load';
import { CpuClock } from '../../lib/cpu.js';
import { start } from './child.js';
import { solve } from './solve.js';

const IDLE = 5000;
const SECONDS = 3;

/**
 * Loads in which receiving, writing and putting messages into writes have different shares, of a loop that is busy: one that sleeps
 * between messages has a wake for each, which a fleet at its target has not.
 */
const LOADS = [
  { connections: 500, rooms: 250, mode: 'closed' },
  { connections: 500, rooms: 50, mode: 'closed' },
  { connections: 500, rooms: 10, mode: 'open', deliveriesRate: 120_000 },
  { connections: 500, rooms: 10, mode: 'closed' },
];

/** @returns {Promise<{ connectionKb: number, processMb: number, receiveUs: number, sendUs: number, deliverUs: number }>} */
export async function measureNode(say) {
  const memory = await idle();
  const rows = [];
  for (const load of LOADS) {
    const row = await cost(load);
    rows.push(row);
    const { messages, sends, deliveries, us } = row;
    say(
      `${Math.round(messages)} messages/s, ${Math.round(deliveries)} deliveries/s in ${Math.round(sends)} writes/s: ${Math.round(us)} µs/s`,
    );
  }
  const [receiveUs, sendUs, deliverUs] = solve(
    rows.map(({ messages, sends, deliveries }) => [messages, sends, deliveries]),
    rows.map(({ us }) => us),
  );
  return { ...memory, receiveUs, sendUs, deliverUs };
}

async function idle() {
  const server = await start('server.js');
  try {
    const before = await server.ask('memory');
    let meanwhile;
    const load = {
      ...{ port: server.first.port, connections: IDLE, rooms: IDLE / 50, mode: 'open' },
      ...{ rate: 100, warmup: 1, seconds: 1 },
    };
    await runLoad(load, {
      onMark(mark) {
        if (mark === 'end') meanwhile = server.ask('memory');
      },
    });
    const after = await meanwhile;
    return { connectionKb: (after.rss - before.rss) / IDLE / 1e3, processMb: before.rss / 1e6 };
  } finally {
    await server.stop();
  }
}

/** Rates of a load, and the CPU of the server, µs a second. */
async function cost(load) {
  const server = await start('server.js');
  try {
    const marks = [];
    const cpu = new CpuClock(server.pid);
    const onMark = () => {
      marks.push({ us: cpu.read(), at: performance.now(), told: server.ask('counts') });
    };
    const options = { port: server.first.port, ...load, warmup: 1, seconds: SECONDS };
    const report = await runLoad(options, { onMark });
    const [first, last] = marks;
    const seconds = (last.at - first.at) / 1000;
    const [before, after] = [await first.told, await last.told];
    return {
      messages: report.sends_per_s,
      deliveries: (after.deliveries - before.deliveries) / seconds,
      sends: (after.sends - before.sends) / seconds,
      us: (last.us - first.us) / seconds,
    };
  } finally {
    await server.stop();
  }
}
