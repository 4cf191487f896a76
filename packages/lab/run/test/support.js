import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const DEMO = fileURLToPath(new URL('../demo.js', import.meta.url));
/** Time in ms: of a demo that starts servers and a generator, each in a process, before it comes to where a test waits for it. */
const PATIENCE_MS = 300_000;

/** Node's own cache of compiled code, which no program cleans up. */
const NODE_CACHE = 'node-compile-cache';

/** The least load that is still one. */
export const TINY = '--rounds 1 --seconds 1 --connections 20 --rooms 4 --rate 2000 --port 0';

/**
 * Starts the demo without a terminal, as the leader of a process group, with a temporary folder of
 * its own and a mark that all its descendants bear.
 */
export function startDemo(t, args, env = {}) {
  const mark = randomUUID();
  const temporary = mkdtempSync(join(tmpdir(), 'demo-test-'));
  const child = spawn(process.execPath, [DEMO, ...args.split(' ')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: temporary, MILLRACE_TEST_MARK: mark, ...env },
    detached: true,
  });
  const ended = once(child, 'close').then(([code, signal]) => signal ?? code);
  const demo = {
    child,
    ended,
    output: '',
    errors: '',
    /** The demo and its descendants: `{ pid, command }`. */
    processes: () => marked(mark),
    /** Names of its temporary files. */
    files: () => readdirSync(temporary).filter((name) => name !== NODE_CACHE),
    /** Waits until `condition` is true. */
    async until(condition) {
      for (const end = Date.now() + PATIENCE_MS; ; ) {
        const value = await condition();
        if (value) return value;
        if (child.exitCode !== null || Date.now() > end) {
          throw new Error(`waited in vain for ${condition}\n${demo.output}\n${demo.errors}`);
        }
        await sleep(10);
      }
    },
    /** Waits for a text on stdout. */
    says: (text) => demo.until(() => demo.output.includes(text)),
    /** Waits for a descendant whose command line has a text in it. */
    runs: (text) =>
      demo.until(() => demo.processes().find(({ command }) => command.includes(text))),
  };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    demo.output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    demo.errors += text;
  });
  t.after(async () => {
    for (const { pid } of demo.processes()) process.kill(pid, 'SIGKILL');
    await ended;
    rmSync(temporary, { recursive: true, force: true });
  });
  return demo;
}

function marked(mark) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => readProc(pid, 'environ').includes(mark))
    .map((pid) => ({
      pid: Number(pid),
      command: readProc(pid, 'cmdline').replaceAll('\0', ' '),
    }));
}

/** A file of a process; empty when it has ended or belongs to somebody else. */
function readProc(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** A run without a fault, as `measure` returns it; `report` and `stats` change single values. */
export function goodRun({ policy = 'direct', report = {}, stats = {}, ...figures } = {}) {
  return {
    policy,
    report: {
      seed: 1,
      scheduled: 100,
      sent: 100,
      unsent: 0,
      refused: 0,
      expected: 5000,
      delivered: 5000,
      acks: 100,
      lost: 0,
      duplicated: 0,
      reordered: 0,
      corrupt: 0,
      closed_early: 0,
      partial: false,
      saturated: false,
      first_fault: null,
      first_error: null,
      bytes: 510_000,
      frames: 5100,
      msgs_per_s: 1000,
      latency: { p50: 2, p99: 8 },
      ...report,
    },
    stats: { policy, messages: 100, insert_items: 100, ...stats },
    cpuUsPerMessage: 10,
    cpuShare: 1,
    writesPerMessage: 1,
    writesBy: 'kernel',
    ...figures,
  };
}
