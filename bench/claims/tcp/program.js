/** So many clients that download 5 MB a few times: `program.js ARM JSON`, see lib/program.js. */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { measured, print, readArguments } from '../lib/program.js';
import { areRight, DOWNLOAD_BYTES } from './content.js';

const { arm, params } = readArguments();
const { clients, looks, times } = params;
const enlarge = arm === 'enlarge' ? (await import('millrace/net')).enlarge : null;
const sender = fork(new URL('./sender.js', import.meta.url), { execArgv: [] });
const [{ port }] = await once(sender, 'message');

let wrong = 0;
let chunks = 0;
const sockets = await Promise.all(Array.from({ length: clients }, makeSocket));

const payload = await fingerprint(sockets[0]);
await downloadAll(1);

const delay = monitorEventLoopDelay({ resolution: 1 });
chunks = 0;
delay.enable();
const { seconds, cpuS, kernelS } = await measured(() => downloadAll(times));
delay.disable();

const answers = clients * times;
const gigabytes = (answers * DOWNLOAD_BYTES) / 1e9;
const enlarged = sockets.filter((each) => each.enlarged?.active);
print({
  values: {
    ...{ answers, answers_per_s: answers / seconds, run_s: seconds },
    cpu_s_per_gb: cpuS / gigabytes,
    kernel_s_per_gb: kernelS / gigabytes,
    utilization: cpuS / seconds,
    loop_p50_ms: delay.percentile(50) / 1e6,
    loop_p99_ms: delay.percentile(99) / 1e6,
    chunk_kb: (answers * DOWNLOAD_BYTES) / chunks / 1024,
  },
  work: [{ name: 'download', answers, bytes: DOWNLOAD_BYTES, payload }],
  isClosed: false,
  faults: wrong > 0 ? [`${wrong} chunks were not what was sent`] : [],
  enlarged: enlarged.length,
});
for (const { socket } of sockets) socket.destroy();
sender.disconnect();

async function makeSocket() {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const enlarged = enlarge?.(socket);
  const made = { socket, enlarged, place: 0, done: null, hash: null };
  socket.on('data', (chunk) => take(made, chunk));
  return made;
}

function take(made, chunk) {
  chunks += 1;
  if (looks && !areRight(chunk, made.place)) wrong += 1;
  made.hash?.update(chunk);
  made.place += chunk.length;
  if (made.place < DOWNLOAD_BYTES) return;
  made.place -= DOWNLOAD_BYTES;
  made.done();
}

function download(made) {
  return new Promise((resolve) => {
    made.done = resolve;
    made.socket.write('.');
  });
}

function downloadAll(count) {
  return Promise.all(
    sockets.map(async (made) => {
      for (let n = 0; n < count; n += 1) await download(made);
    }),
  );
}

/** Of all bytes of one download, before anything is measured. */
async function fingerprint(made) {
  made.hash = createHash('sha256');
  await download(made);
  const digest = made.hash.digest('hex');
  made.hash = null;
  return digest;
}
