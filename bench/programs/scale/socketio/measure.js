/** Arm of one round: a broker, a server that broadcasts, and another one with the clients. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CpuClock } from '../../../lib/cpu.js';
import { startRedis } from '../../../lib/redis.js';
import { Refused } from '../../../lib/refused.js';
import { startNats } from '../nats.js';
import { start } from '../start.js';

const clients = 20;
/** Broadcasts that may be under way, for all alike. */
const window = 2000;
const settleMs = 1000;
const patienceMs = 60_000;

async function brokerOf(subject) {
  if (subject !== 'millrace') {
    const server = await startRedis('no');
    return { server, place: `${server.port}` };
  }
  const server = await startNats();
  return { server, place: server.url };
}

/**
 * @param {string} subject
 * @param {{ broadcasts: number, perTurn: number }} load
 * @returns {Promise<{ msgs_per_s: number, cpu_us_per_msg: number }>} messages that clients got; CPU of both servers and the broker
 */
export async function measureSocketIo(subject, { broadcasts, perTurn }) {
  const { server, place } = await brokerOf(subject);
  const children = [];
  try {
    const sender = await start('socketio/server.js', [subject, place], children);
    const other = await start('socketio/server.js', [subject, place], children);
    const { port } = await other.ask({ port: true });
    const crowd = await start('socketio/clients.js', [clients, port], children);
    crowd.process.on('message', ({ taken }) => taken && sender.process.send({ taken }));
    // A broadcast that leaves before the servers know of each other reaches nobody.
    await sleep(settleMs);
    const turn = (count) => {
      sender.process.send({ broadcasts: count, perTurn, window });
      return all(crowd.process, count);
    };
    await turn(broadcasts / 4);
    const clocks = [server, sender, other].map(({ pid }) => new CpuClock(pid));
    const before = clocks.map((clock) => clock.read());
    const began = performance.now();
    await turn(broadcasts);
    const seconds = (performance.now() - began) / 1000;
    const us = clocks.reduce((sum, clock, i) => sum + clock.read() - before[i], 0);
    const messages = broadcasts * clients;
    return { msgs_per_s: messages / seconds, cpu_us_per_msg: us / messages };
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await server.stop();
  }
}

/** Resolves when all clients have got this many more. */
function all(child, count) {
  child.send({ expect: count });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const what = `${count} broadcasts did not reach all clients within ${patienceMs} ms`;
      child.off('message', listen);
      reject(new Refused(what));
    }, patienceMs);
    function listen(message) {
      if (!message.all) return;
      clearTimeout(timer);
      child.off('message', listen);
      resolve();
    }
    child.on('message', listen);
  });
}
