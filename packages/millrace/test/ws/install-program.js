/** A server of its own for install-ends.test.js: it answers a message with '0', '1', '2' in one turn, and ends as asked. */
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { install } from 'millrace/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { installAutomatically } from '../../dist/ws/transparent.js';

const [, program, how, arm] = process.argv;
// Held frames are still there when the process exits: the longest delay, and a loop that is never idle.
const held = how === 'exit while held';
const ways = { installed: install, transparent: installAutomatically };
const installation = ways[arm]?.(WebSocket, held ? { maxDelay: 60_000 } : {}) ?? null;

const tell = (message) => (isMainThread ? process.send(message) : parentPort.postMessage(message));

const ends = {
  'process.exit()': () => process.exit(),
  'exit in a later tick': () => process.nextTick(() => process.exit()),
  'an uncaught error': () => {
    throw new Error('injected: uncaught');
  },
  'an unhandled rejection': () => Promise.reject(new Error('injected: unhandled')),
  'a worker that exits': () => process.exit(),
  'exit while held': () => {},
  'sends on exit': () => process.exit(),
  'SIGKILL of itself': () => process.kill(process.pid, 'SIGKILL'),
};

if (how === 'a worker that exits' && isMainThread) {
  const worker = new Worker(program, { argv: [how, arm] });
  worker.on('message', tell);
  worker.on('exit', () => process.disconnect());
} else {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('listening', () => tell(server.address().port));
  server.on('connection', (ws) => {
    if (how === 'sends on exit') {
      process.on('exit', () => {
        for (const text of '345') ws.send(text);
      });
    }
    ws.on('message', () => {
      if (held) return holdAndExit(ws);
      if (how === 'serve') return answer(ws);
      // What auto has installed gathers the frames of a turn when the turn before had several.
      for (const text of '..') ws.send(text);
      setImmediate(() => {
        setImmediate(() => {
          answer(ws);
          ends[how]();
        });
      });
    });
  });
}

function answer(ws) {
  for (const text of '012') ws.send(text);
}

/** Keeps the loop busy until frames are held, and exits with the last ones waiting. */
function holdAndExit(ws, turns = 0) {
  const until = performance.now() + 25;
  while (performance.now() < until);
  ws.send('.');
  const waits = installation === null ? turns === 20 : installation.stats().holds > 0;
  if (!waits) {
    setImmediate(holdAndExit, ws, turns + 1);
    return;
  }
  for (const text of '012') ws.send(text);
  // Were they not held, they would leave before the end of these turns, which nobody survives.
  setImmediate(() => setImmediate(() => process.exit()));
}
