/**
 * Arm of one round, the process that receives: `node arm.js CASE SUBJECT PORT` sends bytes per second, its CPU for
 * each GB, the delay of its loop, and what was wrong, if anything.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { checkAll, checkPages } from './content.js';
import { subjects } from './subjects.js';
import { clients, transferBytes, transfers } from './transfers.js';

const [name, subjectName, port] = process.argv.slice(2);
const { side, consumer, path = null } = transfers[name];
const subject = subjects[subjectName];
const warmupMs = 600;
const measuredMs = 1200;
const checkedMs = 100;

/** Check of the bytes: of all until everything is warm; then, on the clock, as the case says. */
let check = checkAll;
let received = 0;
let wrong = null;
const enlarged = [];

/** Gets the chunks of one connection; `ask` asks for the next transfer when one is complete. */
function makeConsumer(ask) {
  let place = 0;
  return (chunk) => {
    if (check !== null) wrong ??= check(chunk, place);
    place += chunk.length;
    received += chunk.length;
    if (place < transferBytes) return;
    place -= transferBytes;
    ask();
  };
}

function read(socket, consume) {
  const result = subject.read(socket, consume);
  if (result !== undefined) enlarged.push(result);
}

async function download() {
  const sockets = Array.from({ length: clients }, () => {
    const consume = makeConsumer(() => {
      if (path === null) socket.write('.');
    });
    const socket = connect({
      port: Number(port),
      host: '127.0.0.1',
      noDelay: true,
      ...subject.options(consume),
    });
    read(socket, consume);
    return socket;
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write(JSON.stringify({ path }));
}

async function serve() {
  const sockets = [];
  const server = createServer((socket) => {
    read(
      socket,
      makeConsumer(() => {}),
    );
    if (sockets.push(socket) === clients) server.emit('complete');
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: clients });
  await once(server, 'listening');
  connect(Number(port), '127.0.0.1').end(JSON.stringify({ uploadTo: server.address().port }));
  // Before anything comes: a busy loop takes one connection a turn.
  await once(server, 'complete');
  for (const socket of sockets) socket.write('.');
}

await (side === 'client' ? download() : serve());
await setTimeout(warmupMs);

check = consumer === 'check' ? checkPages : null;
const delay = monitorEventLoopDelay({ resolution: 1 });
const before = received;
const [start, cpu] = [performance.now(), process.cpuUsage()];
delay.enable();
await setTimeout(measuredMs);
delay.disable();
const ms = performance.now() - start;
const bytes = received - before;
const { user, system } = process.cpuUsage(cpu);

const sample = {
  bytes_per_s: (bytes / ms) * 1000,
  cpu_s: (user + system) / 1e6 / (bytes / 1e9),
  loop_p99_ms: delay.percentile(99) / 1e6,
  /** 1: the process had no time to spare. */
  utilization: (user + system) / 1000 / ms,
  ...readsOf(enlarged),
};

// Once more all of them, at the size that reads have now.
check = checkAll;
await setTimeout(checkedMs);
wrong ??= misused(sample);
process.send({ ...sample, wrong }, () => process.exit());

/** The feature is on in one arm and off in the others. */
function misused({ bytes_per_s, enlarged }) {
  const expected = subjectName === 'millrace' ? clients : 0;
  if (bytes_per_s === 0) return 'nothing was received';
  return enlarged === expected ? null : `${enlarged} sockets were enlarged, not ${expected}`;
}

/** Statistics of the sockets: proof that the feature is on, or off. */
function readsOf(sockets) {
  const stats = sockets.map((each) => each.stats()).filter((each) => each !== null);
  const mean = (key) => stats.reduce((sum, each) => sum + each[key], 0) / stats.length;
  if (sockets.length === 0) return { enlarged: 0 };
  return {
    enlarged: stats.length,
    read_size: mean('readSize'),
    raised: stats.filter((each) => each.receiveBuffer > 0).length,
    yielded: mean('yielded'),
  };
}
