/** Measures the recovery of rooms after a fault. */
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from './client.js';
import { startFleet } from './fleet.js';

const gapMs = 5;
const downMs = 500;

/** Time in ms from the return of a killed broker until a message comes to the member of another node. */
export async function brokerRecovery() {
  const fleet = await startFleet({ subject: 'millrace', nodes: 2 });
  const sockets = [];
  try {
    let waiting = null;
    const sender = await join(fleet.port, () => {});
    sockets.push(sender, await join(fleet.port, (text) => waiting?.(text)));
    const heard = async () => {
      const since = performance.now();
      const came = new Promise((resolve) => {
        waiting = (text) => Number(text) >= since && resolve();
      });
      const timer = setInterval(() => sender.send(`${performance.now()}`), gapMs);
      await Promise.race([came, fleet.died]).finally(() => clearInterval(timer));
      return performance.now() - since;
    };
    await heard();
    await fleet.broker.kill();
    await sleep(downMs);
    await fleet.broker.start();
    return { recovery_ms: await heard() };
  } finally {
    for (const socket of sockets) socket.terminate();
    await fleet.stop();
  }
}

/** Time in ms from kill -9 of a node until the other one no longer lists its member. */
export async function nodeRecovery(heartbeat) {
  const fleet = await startFleet({ subject: 'millrace', nodes: 2, options: { heartbeat } });
  const sockets = [];
  const [first, second] = fleet.nodes;
  const untilPresent = async (many) => {
    while ((await first.present()) !== many) await sleep(gapMs);
  };
  try {
    for (let i = 0; i < 2; i += 1) sockets.push(await join(fleet.port, () => {}));
    await untilPresent(2);
    const killed = performance.now();
    await second.kill();
    await untilPresent(1);
    return { recovery_ms: performance.now() - killed };
  } finally {
    for (const socket of sockets) socket.terminate();
    await fleet.stop();
  }
}
