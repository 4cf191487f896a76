/** A fleet on this machine: a broker, nodes, and one port whose connections are shared out to them. */
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { startNats } from '../nats.js';

const program = fileURLToPath(new URL('./node.js', import.meta.url));

/**
 * @param {object} fleet
 * @param {string} fleet.subject
 * @param {number} fleet.nodes
 * @param {number} [fleet.rooms] how many connections that come after each other go to the same node: each is in another room
 * @param {object} [fleet.options] of `Rooms`
 * @param {number | null} [fleet.core] that broker and nodes share
 * @returns {Promise<{ port: number, pids: number[], broker: object, nodes: Node[], died: Promise<never>, stop(): Promise<void> }>}
 */
export async function startFleet({ subject, nodes: many, rooms = 1, options = {}, core = null }) {
  const broker = await startNats();
  const nodes = Array.from({ length: many }, () => startNode(subject, broker.url, options));
  const died = Promise.race(nodes.map((node) => node.died));
  died.catch(() => {});
  try {
    await Promise.race([Promise.all(nodes.map((node) => node.ready)), died]);
  } catch (error) {
    await broker.stop();
    throw error;
  }
  const pids = [broker.pid, ...nodes.map(({ pid }) => pid)];
  if (core !== null) for (const pid of pids) spawnSync('taskset', ['-acp', `${core}`, `${pid}`]);
  let count = 0;
  const door = createServer({ pauseOnConnect: true }, (socket) => {
    nodes[Math.floor(count / rooms) % many].take(socket);
    count += 1;
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  return {
    ...{ port: door.address().port, pids, broker, nodes, died },
    async stop() {
      door.close();
      await Promise.all(nodes.map((node) => node.kill()));
      await broker.stop();
    },
  };
}

/** @typedef {ReturnType<typeof startNode>} Node */

function startNode(subject, url, options) {
  const child = fork(program, [subject, url, JSON.stringify(options)]);
  const exited = once(child, 'exit');
  let isKilled = false;
  const died = exited.then(([code, signal]) => {
    if (isKilled) return new Promise(() => {});
    throw new Error(`a node of ${subject} ended with ${signal ?? code} while measured`);
  });
  died.catch(() => {});
  const ask = async (question) => {
    child.send(question);
    return (await Promise.race([once(child, 'message'), died]))[0];
  };
  return {
    pid: child.pid,
    ready: once(child, 'message'),
    died,
    take: (socket) => child.send('socket', socket),
    stats: () => ask('stats'),
    /** Number of members of the room `r` known to the node. */
    present: () => ask('present'),
    async kill() {
      isKilled = true;
      child.kill('SIGKILL');
      await exited;
    },
  };
}
