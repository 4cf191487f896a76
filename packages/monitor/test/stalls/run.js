/** Runs the program that blocks, and looks at it by its probes meanwhile. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Time (ms) of a stall by which its samples have named the function, and tries until one does: a busy machine may take them too late. */
const namedMs = 30_000;
const mostTries = 10;

/** A program that blocks in this way, and its stall, which passes; the last one, if none of some passes. */
export async function stalledSo(t, kind, passes) {
  for (let tries = 1; ; tries++) {
    const program = await blocked(t, kind);
    const during = await program.until((stall) => passes(stall) || stall.duration > namedMs);
    if (passes(during) || tries === mostTries) return { program, during };
    program.release();
    await program.end();
  }
}

/**
 * A program that blocks in this way. `until` and `logged` wait, as long as that takes, for a stall under way that passes and for a
 * word on stderr; `release` ends the block; `end` resolves with what the program has printed.
 */
export async function blocked(t, kind, options = {}) {
  const place = mkdtempSync(join(tmpdir(), 'millrace-stalls-'));
  t.after(() => rmSync(place, { recursive: true }));
  const file = join(place, 'go');
  const args = [join(folder, 'program.js'), kind, file, JSON.stringify(options)];
  if (kind === 'fifo') await once(spawn('mkfifo', [file]), 'exit');
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  const printed = [];
  let stderr = '';
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  const ended = once(child, 'close');
  const lines = createInterface({ input: child.stdout });
  const first = once(lines, 'line');
  lines.on('line', (line) => printed.push(JSON.parse(line)));
  await Promise.race([first, ended]);
  if (printed[0]?.probes === undefined) throw new Error(`no probes: ${stderr}`);
  const { port } = printed[0].probes;
  const ask = (path, options) => fetch(`http://127.0.0.1:${port}${path}`, options);
  return {
    pid: child.pid,
    ask,
    async until(passes) {
      for (;;) {
        const { current } = await (await ask('/stalls')).json();
        if (current !== null && passes(current)) return current;
        await sleep(50);
      }
    },
    async logged(word) {
      while (!stderr.includes(word)) await sleep(50);
    },
    release: () => writeFileSync(file, 'x'),
    async end() {
      const [code, signal] = await ended;
      const stalls = printed.flatMap(({ stall }) => stall ?? []);
      const { blocked } = printed.at(-1);
      return { code, signal, stderr, stalls, blocked };
    },
  };
}
