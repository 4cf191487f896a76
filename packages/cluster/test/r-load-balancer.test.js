/** The functions of r-loadBalancer, and the steps and figures of its algorithm. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cpuShare } from '@millrace/base/limits/limits';
import {
  detectIdleCores,
  dynamicResourceAllocator,
  getFileChunks,
  getHealthMetrics,
  getIdleCores,
  getMemoryUsage,
  manageCpuBoundTasks,
  runWorkerTask,
  startLoadBalancer,
} from '@millrace/cluster/r-load-balancer';
import { limits } from '@millrace/monitor';
import { loaded } from '../../base/test/loads.js';
import { isIn } from '../../base/test/route.js';
import { allocate, allocatorSchema, decide } from '../dist/allocator.js';
import { processesFor, usableCpus } from '../dist/options.js';
import { fixture, get, launch } from './program.js';

const filename = fixture('balanced-tasks.js');
const task = (name) => ({ filename, name });

/** Nothing is short. */
const calm = {
  ...{ queued: 0, running: 0, idleCores: 2, cores: 2, throttled: false, memoryUsed: 0.5 },
};

async function until(isSo) {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** An allocator whose intervals a test lets pass. */
function allocator(options = {}) {
  const lines = [];
  const state = { ...calm };
  let interval = null;
  let call = () => {};
  let looks = 0;
  const stop = allocate(
    () => {
      looks++;
      return state;
    },
    { log: (line) => lines.push(line), ...options },
    (each, ms) => {
      call = each;
      interval = ms;
      return () => {
        call = () => {};
      };
    },
  );
  /** After an interval: what it has logged in it. */
  const after = (changed) => {
    Object.assign(state, changed);
    lines.length = 0;
    call();
    return lines.map((line) => /^\S+Z r-load-balancer: (.*)$/.exec(line)[1]);
  };
  return { after, stop, interval: () => interval, looks: () => looks };
}

describe('the steps of the algorithm', () => {
  test('1, start: it looks at the cores and the memory that there are', () => {
    const { cpu, memory, tasks } = getHealthMetrics();
    assert.equal(cpu.cores.count, Math.ceil(limits().cpus));
    assert.ok(memory.totalBytes > 0 && memory.availableBytes <= memory.totalBytes);
    assert.equal(tasks, null);
  });

  test('2, task queue: without a task it waits, whatever else there is', () => {
    assert.equal(decide(calm), 'wait');
    assert.equal(decide({ ...calm, idleCores: 0, throttled: true }), 'wait');
    assert.deepEqual(allocator().after({}), []);
  });

  test('3, idle cores: without one tasks are held until there is one', () => {
    const { after } = allocator();
    assert.deepEqual(after({ queued: 5, running: 2, idleCores: 0 }), [
      'hold, 5 tasks queued, 2 running, 0 of 2 cores idle, 50 % of memory used',
    ]);
    assert.deepEqual(after({ idleCores: 1 }), [
      'allocate, 5 tasks queued, 2 running, 1 of 2 cores idle, 50 % of memory used',
    ]);
  });

  test('4, memory: while it is short tasks are throttled, and I/O goes first, with idle cores as well', () => {
    const { after } = allocator();
    assert.deepEqual(after({ queued: 1, running: 1, throttled: true, memoryUsed: 0.924 }), [
      'throttle, 1 task queued, 1 running, 2 of 2 cores idle, 92 % of memory used',
    ]);
    assert.equal(after({ throttled: false, memoryUsed: 0.84 }).length, 1);
    assert.equal(decide({ ...calm, queued: 1 }), 'allocate');
  });

  test('5, allocation: tasks that wait get cores where there are idle ones and memory', async () => {
    assert.equal(decide({ ...calm, queued: 1, idleCores: 1 }), 'allocate');
    assert.deepEqual(await runWorkerTask(task('fibonacci'), 90), 2880067194370816120n);
  });

  test('6, execution and monitoring: a line only when the decision changes', () => {
    const { after, looks } = allocator();
    assert.equal(after({ queued: 3 }).length, 1);
    assert.deepEqual([after({ queued: 2, running: 2 }), after({ queued: 1 })], [[], []]);
    assert.equal(looks(), 3);
  });

  test('7, end: it goes on to look for the next task', () => {
    const { after, stop } = allocator();
    assert.equal(after({ queued: 1 }).length, 1);
    assert.deepEqual(after({ queued: 0 }), [
      'wait, 0 tasks queued, 0 running, 2 of 2 cores idle, 50 % of memory used',
    ]);
    assert.equal(after({ queued: 1 }).length, 1);
    stop();
    assert.deepEqual(after({ queued: 0 }), []);
  });

  test('an interval of 500 ms, or another', () => {
    assert.equal(allocator().interval(), 500);
    assert.equal(allocator({ interval: 50 }).interval(), 50);
    assert.equal(allocatorSchema.defaults.interval, 500);
  });
});

describe('dynamicResourceAllocator()', () => {
  test('logs what becomes of tasks that wait, and ends', async () => {
    const lines = [];
    const stop = dynamicResourceAllocator({ interval: 10, log: (line) => lines.push(line) });
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const queue = Array.from({ length: 4 * availableParallelism() }, () => ({
      ...{ task: task('hold'), data: gate },
    }));
    const calls = manageCpuBoundTasks(queue);
    await until(() => lines.length > 0);
    assert.match(lines[0], /^\S+Z r-load-balancer: (hold|throttle|allocate), \d+ tasks? queued, /);
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    await Promise.all(calls);
    await until(() => lines.at(-1).includes(': wait, 0 tasks queued'));
    stop();
    stop();
  });

  test('refuses other intervals, options and logs', () => {
    for (const interval of [0, -1, 9, 1e12, Number.NaN, '500']) {
      assert.throws(() => dynamicResourceAllocator({ interval }), {
        ...{ code: 'MILLRACE_E_INVALID_OPTION', message: /'interval' is .*10 to 3600000 ms/ },
      });
    }
    for (const options of [{ log: 'yes' }, { intervall: 5 }, null, 5]) {
      assert.throws(() => dynamicResourceAllocator(options), { code: 'MILLRACE_E_INVALID_OPTION' });
    }
  });
});

describe('detectIdleCores() and getIdleCores()', () => {
  test('a count and the cores: above the threshold of 10 %, as many as the quota leaves', () => {
    const { count } = getHealthMetrics().cpu.cores;
    const found = detectIdleCores();
    assert.ok(Number.isInteger(found) && found >= 0 && found <= count);
    const idle = getIdleCores();
    assert.ok(idle.length <= count);
    for (const { cpu, idleShare } of idle) {
      assert.ok(Number.isInteger(cpu) && idleShare > 0.1 && idleShare <= 1);
    }
    const shares = idle.map(({ idleShare }) => idleShare);
    assert.deepEqual(
      shares,
      shares.toSorted((a, b) => b - a),
    );
    assert.deepEqual([detectIdleCores(1), getIdleCores(1)], [0, []]);
    assert.equal(getHealthMetrics().cpu.cores.idleThreshold, 0.1);
  });

  test('refuse what is no share', () => {
    for (const threshold of [-0.1, 1.1, 1e9, Number.NaN, '0.1', null]) {
      for (const fn of [detectIdleCores, getIdleCores]) {
        assert.throws(() => fn(threshold), {
          ...{ code: 'MILLRACE_E_INVALID_OPTION', message: /'threshold' is .* from 0 to 1/ },
        });
      }
    }
  });
});

test('getMemoryUsage(): of the heap, and what the container allows', () => {
  const { rss, heapUsed, heapTotal, limit } = getMemoryUsage();
  assert.ok(rss > heapTotal && heapTotal >= heapUsed && heapUsed > 0);
  assert.equal(limit, limits().memoryBytes);
});

test('getHealthMetrics(): plain data of cores, load, uptime, memory and tasks', async () => {
  await runWorkerTask(filename);
  const health = getHealthMetrics();
  assert.deepEqual(JSON.parse(JSON.stringify(health)), health);
  const { uptime, cpu, memory, tasks } = health;
  assert.ok(uptime.process > 0 && uptime.system >= uptime.process);
  assert.equal(cpu.loadAverage.length, 3);
  assert.equal(cpu.cores.idle + cpu.cores.busy, cpu.cores.count);
  assert.equal(memory.usedBytes, memory.totalBytes - memory.availableBytes);
  assert.ok(memory.process.heapUsed > 0);
  assert.ok(tasks.completed >= 1 && tasks.queued.total === 0);
});

describe('runWorkerTask()', () => {
  test('runs the default export of a file, by path or URL, or a named one', async () => {
    const url = pathToFileURL(filename);
    for (const file of [filename, url, url.href, { filename: url }]) {
      assert.ok((await runWorkerTask(file)) > 0, 'on another thread');
    }
    assert.equal(await runWorkerTask(task('add'), [2, 3]), 5);
  });

  test('rejects with what the function throws', async () => {
    await assert.rejects(runWorkerTask(task('fail'), 'too far'), RangeError);
  });

  test('never runs code', async () => {
    const { parentPort } = { parentPort: "require('worker_threads').parentPort.postMessage(1)" };
    for (const code of [
      ...[parentPort, '() => 1', 'data:text/javascript,export default () => 1', 'x'.repeat(9999)],
      ...[() => 1, new URL('data:text/javascript,export default () => 1'), null, undefined, 5, ''],
      ...[[filename], {}, { filename: '() => 1' }, { name: 'fibonacci' }],
    ]) {
      await assert.rejects(runWorkerTask(code, 1), {
        ...{
          code: 'MILLRACE_E_INVALID_ARGUMENT',
          message: /functions that files export, never code/,
        },
      });
    }
  });

  test('names a function that is not there, and what is no name', async () => {
    await assert.rejects(runWorkerTask(task('fibonaci'), 1), { code: 'MILLRACE_E_TASK_FILE' });
    await assert.rejects(runWorkerTask(fixture('nothing.js'), 1), {
      ...{ code: 'MILLRACE_E_INVALID_ARGUMENT', message: /nothing\.js" is not an existing file/ },
    });
    for (const odd of [
      ...[
        { filename, name: 5 },
        { filename, names: 'add' },
        { filename, name: null },
      ],
    ]) {
      await assert.rejects(runWorkerTask(odd, 1), { code: 'MILLRACE_E_INVALID_OPTION' });
    }
  });
});

describe('manageCpuBoundTasks()', () => {
  test('takes the tasks out of the array, and settles a promise for each', async () => {
    const queue = [
      { task: task('add'), data: [1, 2] },
      { task: task('fail'), data: 'no' },
      { task: '() => 1' },
      null,
      { task: task('add'), data: [3, 4], priority: 1 },
      { task: task('fibonacci'), data: 10 },
    ];
    const calls = manageCpuBoundTasks(queue);
    assert.deepEqual(queue, []);
    const settled = await Promise.allSettled(calls);
    assert.deepEqual(
      settled.map(({ value, reason }) => value ?? reason.code ?? reason.message),
      [3, 'no', 'MILLRACE_E_INVALID_ARGUMENT', ...Array(2).fill('MILLRACE_E_INVALID_OPTION'), 55n],
    );
  });

  test('runs thousands, and an empty array is done', async () => {
    const queue = Array.from({ length: 5000 }, (_, n) => ({ task: task('add'), data: [n, 1] }));
    const sums = await Promise.all(manageCpuBoundTasks(queue));
    assert.deepEqual(
      sums,
      Array.from({ length: 5000 }, (_, n) => n + 1),
    );
    assert.deepEqual(manageCpuBoundTasks([]), []);
  });

  test('takes nothing but an array', () => {
    for (const queue of [null, undefined, 5, {}, new Set()]) {
      assert.throws(() => manageCpuBoundTasks(queue), {
        ...{ code: 'MILLRACE_E_INVALID_ARGUMENT', message: /takes an array of tasks/ },
      });
    }
  });
});

test('getFileChunks(): one for each idle core, one at least, which are the file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-chunks-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'lines.txt');
  writeFileSync(file, 'a line of the file\n'.repeat(20_000));
  const { length } = readFileSync(file);
  const chunks = await getFileChunks(file);
  assert.ok(chunks.length >= 1 && chunks.length <= Math.ceil(limits().cpus));
  assert.equal(chunks[0].start, 0);
  assert.equal(chunks.at(-1).end, length);
  for (const [i, { end }] of chunks.entries()) {
    assert.equal(end, chunks[i + 1]?.start ?? length);
    assert.equal(end % 19, 0);
  }
  assert.equal((await getFileChunks(file, { chunks: 5 })).length, 5);
  for (const chunks of [0, -1, 1e12, 1.5]) {
    await assert.rejects(getFileChunks(file, { chunks }), { code: 'MILLRACE_E_INVALID_OPTION' });
  }
  await assert.rejects(getFileChunks(join(folder, 'none')), { code: 'ENOENT' });
});

describe('startLoadBalancer()', () => {
  test('serves the application of the script in processes, with tasks on threads; one that dies is replaced', async (t) => {
    const program = launch(t, fixture('balanced.js'), ['', { workers: 2 }]);
    const { address, wanted } = await program.next('served');
    assert.equal(wanted, 2);
    const { text } = await get(address.port, '/');
    assert.equal(text, '2880067194370816120');
    const health = JSON.parse((await get(address.port, '/health')).text);
    assert.ok(health.cpu.cores.count >= 1);
    const pid = Number((await get(address.port, '/pid')).text);
    process.kill(pid, 'SIGKILL');
    assert.equal((await program.next('death')).pid, pid);
    const ready = await program.next('ready');
    assert.notEqual(ready.pid, pid);
    assert.equal((await get(address.port, '/')).text, text);
    program.child.kill('SIGTERM');
    assert.deepEqual(await program.exited, { code: 0, signal: null });
  });

  test('as many processes as there are CPUs, less what is for I/O and for tasks', async (t) => {
    const program = launch(t, fixture('balanced.js'), ['', { workers: 0 }]);
    const { wanted } = await program.next('served');
    assert.equal(wanted, processesFor(usableCpus(cpuShare(), 0.1), 1));
  });

  test('refuses what serve() refuses, and other options of the allocator', async () => {
    const app = fileURLToPath(new URL('none.js', import.meta.url));
    for (const [args, code] of [
      [[app, 3000], 'MILLRACE_E_INVALID_ARGUMENT'],
      [[filename, -1], 'MILLRACE_E_INVALID_OPTION'],
      [[filename, 70_000], 'MILLRACE_E_INVALID_OPTION'],
      [[filename, 0, { workers: -1 }], 'MILLRACE_E_INVALID_OPTION'],
      [[filename, 0, { worker: 1 }], 'MILLRACE_E_INVALID_OPTION'],
      [[filename, 0, { allocator: { interval: -1 } }], 'MILLRACE_E_INVALID_OPTION'],
      [[filename, 0, null], 'MILLRACE_E_INVALID_OPTION'],
      [[42, 0], 'MILLRACE_E_INVALID_ARGUMENT'],
    ]) {
      await assert.rejects(startLoadBalancer(...args), { code });
    }
  });
});

test("import '@millrace/cluster' loads no pool", async () => {
  assert.deepEqual((await loaded('@millrace/cluster')).filter(isIn('pool')), []);
  const modules = await loaded('@millrace/cluster/r-load-balancer');
  assert.ok(modules.some(isIn('pool')));
});
