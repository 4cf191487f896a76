/** The servers that are compared. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { native } from 'millrace';
import { folder, version } from '../../../scripts/lib/socketify.js';
import { program } from '../../lib/load.js';

const require = createRequire(import.meta.url);
const node = process.execPath;

/** The binary of the npm package bun. */
function bun() {
  const manifest = require.resolve('bun/package.json');
  return join(dirname(manifest), require(manifest).bin.bun);
}

/** Versions of the servers, for the record. */
export const versions = () =>
  [
    ...['ws', 'socket.io', 'bun'].map(
      (name) => `${name} ${require(`${name}/package.json`).version}`,
    ),
    ...(peers.uWebSockets ? [`uWebSockets of socketify ${version}`] : []),
  ].join(', ');

/** Reports whether io_uring may be used here; if not, millrace says so when it is forced. */
function allowsRing() {
  const start = "import { Rooms } from 'millrace/ws'; new Rooms();";
  const env = { ...process.env, MILLRACE_FANOUT: 'io_uring' };
  const args = ['--input-type=module', '--eval', start];
  return spawnSync(node, args, { env, stdio: 'ignore' }).status === 0;
}

/**
 * Ways in which millrace writes, the portable one first. Each is forced on its servers, so that none is taken for another.
 */
export const backends = native === null ? ['js'] : ['send', ...(allowsRing() ? ['io_uring'] : [])];

/** uWebSockets under Python, where the setup could install it; a command and its environment. */
function uWebSockets() {
  const env = { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' };
  const options = { env: { ...process.env, ...env }, stdio: 'ignore' };
  const { status } = spawnSync('python3', ['-c', 'import socketify'], options);
  return status === 0 ? { uWebSockets: { command: ['python3', program('uws.py')], env } } : {};
}

/** Servers of peers. Without `protocol` a server uses the generator's raw one. */
export const peers = {
  ws: { command: [node, program('ws.js')] },
  'socket.io': { command: [node, program('socket.io.js')], protocol: 'socket.io' },
  bun: { command: [bun(), program('bun.js')] },
  ...uWebSockets(),
};

const ours = (backend, question, command, env) => ({
  command: [node, ...command],
  env: { ...(backend === 'js' ? {} : { MILLRACE_FANOUT: backend }), ...env },
  ...{ backend, question },
});

/** `Rooms` of millrace/ws. Nobody is closed for being slow, as with the peers. */
export const rooms = (backend, maxDelay = 0) =>
  ours(backend, 'stats', [
    program('rooms.js'),
    JSON.stringify({ maxDelay, maxPending: 1024 ** 3 }),
  ]);

/** The program of ws as it is, with `install(WebSocket)` before it. */
export const install = (backend, maxDelay = 0) =>
  ours(backend, 'installed', ['--import', program('install.js'), program('ws.js')], {
    INSTALL_OPTIONS: JSON.stringify({ maxDelay }),
  });

/** Servers of event streams: `Rooms`, and a response's own `write()`, its string made once for all. */
export function streamArms(quick) {
  const used = quick ? backends.slice(0, 1) : backends;
  const own = used.map((backend) => [
    `rooms ${backend}`,
    ours(backend, 'stats', [program('sse.js'), 'rooms']),
  ]);
  return Object.fromEntries([
    ...own,
    ['res.write', { command: [node, program('sse.js'), 'write'] }],
  ]);
}
