/** Rooms and durable tasks over several processes and a broker: `make bench NAME=scale`. */
import { createRequire } from 'node:module';
import { partCores } from '../../packages/lab/run/cores.js';
import { runBench } from '../lib/bench.js';
import { noteGenerator } from '../lib/checks.js';
import { Refused } from '../lib/refused.js';
import { ackWait, broadcasts, heartbeat, recoveryBounds, rooms, tasks } from './cases.js';
import { measureHop } from './rooms/hop.js';
import { measureRooms, metrics as roomMetrics } from './rooms/measure.js';
import { brokerRecovery, nodeRecovery } from './rooms/recovery.js';
import { measureSocketIo, metrics as socketIoMetrics } from './socketio/measure.js';
import { measureTasks, metrics as taskMetrics } from './tasks/measure.js';
import { workerRecovery } from './tasks/recovery.js';

const ours = 'millrace';
const ms = { unit: 'ms', better: 'lower' };
const version = (name) => createRequire(import.meta.url)(`${name}/package.json`).version;

await runBench('scale', async (bench) => {
  const { quick, isBrief } = bench;
  const listed = (all) => all.filter((each) => !isBrief || each.quick !== false);
  bench.note(
    `bullmq ${version('bullmq')}, ioredis ${version('ioredis')}, socket.io ${version('socket.io')}`,
  );
  await allRooms();
  await hop();
  await allBroadcasts();
  await allTasks();
  await recovery();

  async function allRooms() {
    const cores = partCores();
    bench.note(
      cores === null
        ? 'broker and nodes are not apart from the generator: there is one core, or no taskset'
        : `broker and nodes on core ${cores.server}`,
    );
    const timing = quick ? { warmup: 0.5, seconds: 1 } : { warmup: 1, seconds: 4 };
    for (const { name, nodes, load, targets } of listed(rooms)) {
      const once = (subject) => {
        const fleet = { subject, nodes, core: cores?.server };
        return measureRooms(name, fleet, { ...load, ...timing, drain: 30 });
      };
      const samples = await paired(name, [ours, 'unbatched'], once, quick ? 6 : 9);
      refuseUnbatched(name, samples, nodes);
      compare(name, 'unbatched', samples, pick(roomMetrics, shown(load)), targets);
      noteGenerator(bench, name, samples);
      noteBroker(name, samples);
    }
    cores?.release();
  }

  /** In a closed loop latency is what the loop makes it. */
  function shown({ mode }) {
    return mode === 'open' ? Object.keys(roomMetrics) : ['msgs_per_s', 'cpu_us_per_msg'];
  }

  /** Batching must be seen to be on. */
  function refuseUnbatched(name, samples, nodes) {
    if (nodes === 1) return;
    const everywhere = samples.flatMap((round) => round[ours].stats.map(({ across }) => across));
    const sum = (key) => everywhere.reduce((total, across) => total + across[key], 0);
    const [messages, batches] = [sum('sent'), sum('sentBatches')];
    if (batches === 0) throw new Refused(`in '${name}' nothing went to the broker`);
    bench.note(`${name}: ${(messages / batches).toFixed(1)} messages in a batch to the broker`);
  }

  function noteBroker(name, samples) {
    const [us, theirs] = [ours, 'unbatched'].map((subject) => {
      const all = samples.map((round) => round[subject].broker_us_per_msg).sort((a, b) => a - b);
      return all[all.length >> 1].toPrecision(2);
    });
    bench.note(`${name}: of the CPU the broker's is ${us} us, unbatched ${theirs} us`);
  }

  async function hop() {
    const title = 'broker hop';
    const rounds = quick ? 6 : 15;
    const once = () => measureHop(ours, quick ? 300 : 2000);
    const samples = await bench.rounds(title, { [ours]: once }, { rounds, warmup: 0 });
    for (const metric of ['p50_ms', 'p99_ms']) {
      const values = (end) => samples.map((round) => round[ours][end][metric]);
      bench.add(
        { case: title, metric, peer: 'same node', ...ms },
        values('remote'),
        values('local'),
      );
    }
  }

  async function allBroadcasts() {
    for (const { name, load, peers: all } of listed(broadcasts)) {
      const peers = isBrief ? firstOf(all) : all;
      const subjects = [ours, ...Object.keys(peers)];
      const once = (subject) => measureSocketIo(subject, load(quick));
      const samples = await paired(name, subjects, once, quick ? 6 : 15);
      for (const [peer, targets] of Object.entries(peers)) {
        compare(name, peer, samples, socketIoMetrics, targets);
      }
    }
  }

  async function allTasks() {
    for (const { name, work, peers: all, metrics } of listed(tasks)) {
      // In quick runs the first, for time.
      const peers = quick ? firstOf(all) : all;
      const subjects = [ours, ...Object.keys(peers)];
      const once = (subject) => measureTasks(subject, work(quick), { bulk: 2000 });
      const samples = await paired(name, subjects, once, quick ? 6 : 15);
      for (const [peer, targets] of Object.entries(peers)) {
        compare(name, peer, samples, pick(taskMetrics, metrics), targets);
      }
    }
  }

  async function recovery() {
    const faults = {
      'recovery broker': brokerRecovery,
      'recovery node': () => nodeRecovery(heartbeat),
      'recovery worker': () => workerRecovery(ackWait),
    };
    for (const [title, once] of Object.entries(isBrief ? firstOf(faults) : faults)) {
      const size = { rounds: quick ? 6 : 9, warmup: 0 };
      const samples = await bench.rounds(title, { [ours]: once }, size);
      const what = { case: title, metric: 'recovery_ms', peer: null, ...ms };
      const values = samples.map((round) => round[ours].recovery_ms);
      bench.add(what, values, recoveryBounds[title], 1);
    }
    bench.note(
      `recovery: heartbeat ${heartbeat} ms, ackWait ${ackWait} ms; the broker is away for 500 ms`,
    );
  }

  function paired(name, subjects, once, rounds) {
    const arms = Object.fromEntries(subjects.map((subject) => [subject, () => once(subject)]));
    return bench.rounds(name, arms, { rounds, warmup: quick ? 0 : 1 });
  }

  function compare(name, peer, samples, metrics, targets) {
    for (const [metric, what] of Object.entries(metrics)) {
      const values = (subject) => samples.map((round) => round[subject][metric]);
      bench.add({ case: name, metric, peer, ...what }, values(ours), values(peer), targets[metric]);
    }
  }
});

function firstOf(all) {
  return Object.fromEntries(Object.entries(all).slice(0, 1));
}

/** Some of the entries. */
function pick(all, names) {
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}
