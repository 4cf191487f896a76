/** A fleet on this machine: a broker, nodes, and one port whose connections are shared out to them. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { commandOf, startChild } from '../../../lib/child.js';
import { startNats } from '../nats.js';

const program = new URL('./node.js', import.meta.url);

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
  const starting = Array.from({ length: many }, () => startNode(subject, broker.url, options));
  const nodes = await Promise.all(starting).catch(async (error) => {
    await broker.stop();
    throw error;
  });
  const died = Promise.race(nodes.map((node) => node.died));
  died.catch(() => {});
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

/** @typedef {Awaited<ReturnType<typeof startNode>>} Node */

async function startNode(subject, url, options) {
  const node = await startChild(commandOf(program, [subject, url, JSON.stringify(options)]));
  return {
    ...node,
    take: (socket) => node.process.send('socket', socket),
    stats: () => node.ask('stats'),
    /** Number of members of the room `r` known to the node. */
    present: () => node.ask('present'),
    kill: node.stop,
  };
}
