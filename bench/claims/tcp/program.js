/** Clients that download 5 MB a few times: `program.js ARM JSON`, see lib/program.js. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { commandOf, startChild } from '../../lib/child.js';
import { checkPages } from '../../programs/bulk-tcp/content.js';
import { transferBytes } from '../../programs/bulk-tcp/transfers.js';
import { measured, print, readArguments } from '../lib/program.js';

const { arm, params } = readArguments();
const { clients, looks, times } = params;
const enlarge = arm === 'enlarge' ? (await import('millrace/net')).enlarge : null;
const sender = await startChild(
  commandOf(new URL('../../programs/bulk-tcp/sender.js', import.meta.url)),
);

let wrong = 0;
let chunks = 0;
const hash = createHash('sha256');
const sockets = await Promise.all(Array.from({ length: clients }, (_, i) => makeSocket(i)));
const payload = hash.digest('hex');

const delay = monitorEventLoopDelay({ resolution: 1 });
chunks = 0;
delay.enable();
const { seconds, cpuS, kernelS } = await measured(() => downloadAll(times));
delay.disable();

const answers = clients * times;
const gigabytes = (answers * transferBytes) / 1e9;
const enlarged = sockets.filter((each) => each.enlarged?.active);
print({
  values: {
    ...{ answers, answers_per_s: answers / seconds, run_s: seconds },
    cpu_s_per_gb: cpuS / gigabytes,
    kernel_s_per_gb: kernelS / gigabytes,
    utilization: cpuS / seconds,
    loop_p50_ms: delay.percentile(50) / 1e6,
    loop_p99_ms: delay.percentile(99) / 1e6,
    chunk_kb: (answers * transferBytes) / chunks / 1024,
  },
  work: [{ name: 'download', answers, bytes: transferBytes, payload }],
  isClosed: false,
  faults: wrong > 0 ? [`${wrong} chunks were not what was sent`] : [],
  enlarged: enlarged.length,
});
for (const { socket } of sockets) socket.destroy();
await sender.stop();

/** Connects, and takes the first download; of the first socket all of its bytes go into the fingerprint. */
async function makeSocket(i) {
  const socket = connect({ port: sender.first.port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const enlarged = enlarge?.(socket);
  const made = { socket, enlarged, place: 0, done: null, hash: i === 0 ? hash : null };
  socket.on('data', (chunk) => take(made, chunk));
  await download(made, JSON.stringify({ path: null }));
  made.hash = null;
  return made;
}

function take(made, chunk) {
  chunks += 1;
  if (looks && checkPages(chunk, made.place) !== null) wrong += 1;
  made.hash?.update(chunk);
  made.place += chunk.length;
  if (made.place < transferBytes) return;
  made.place -= transferBytes;
  made.done();
}

function download(made, ask = '.') {
  return new Promise((resolve) => {
    made.done = resolve;
    made.socket.write(ask);
  });
}

function downloadAll(count) {
  return Promise.all(
    sockets.map(async (made) => {
      for (let n = 0; n < count; n += 1) await download(made);
    }),
  );
}
