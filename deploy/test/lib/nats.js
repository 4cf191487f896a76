/** The broker of the manifests: a real server with their configuration, but for its ports and its folder. */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command } from '../../../packages/nats/test/nats.js';
import { until } from '../../../scripts/lib/program-tests.js';
import { read } from './files.js';
import { run } from './server.js';

export { unable } from '../../../packages/nats/test/nats.js';

/** @returns {Promise<{ url: string, monitor: string }>} where clients connect, with the token, and where it tells about itself */
export async function startNats(t) {
  for (;;) {
    const { text, ...broker } = await tryNats(t);
    if (broker.url !== undefined) return broker;
    // Another program has the port by now.
    if (!text.includes('address already in use')) throw new Error(text);
  }
}

/** @returns {Promise<{ url?: string, monitor?: string, text: string }>} without the addresses if it has ended */
async function tryNats(t) {
  const token = 'a-token';
  const port = await freePort();
  const own = await mkdtemp(join(tmpdir(), 'millrace-deploy-'));
  const file = join(own, 'nats.conf');
  const config = read('kubernetes/nats/nats.conf');
  writeFileSync(
    file,
    config
      .replace('port: 4222', 'listen: 127.0.0.1:-1')
      .replace('0.0.0.0:8222', `127.0.0.1:${port}`)
      .replace('store_dir: /data', `store_dir: "${own}/data"`),
  );
  const server = run(t, [command, '-c', file], { NATS_TOKEN: token });
  // After what `run` does at the end of the test: a server that still writes into it would make it come back.
  t.after(() => rm(own, { recursive: true, force: true }));
  await until(() => server.text.includes('Server is ready') || server.child.exitCode !== null);
  const [, client] = /client connections on \S+:(\d+)/.exec(server.text) ?? [];
  const { text } = server;
  if (client === undefined || server.child.exitCode !== null) return { text };
  return {
    url: `nats://${token}@127.0.0.1:${client}`,
    monitor: `http://127.0.0.1:${port}`,
    text,
  };
}

/** A port that was free a moment ago. */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
