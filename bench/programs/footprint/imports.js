/** A process that imports something and ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Entry points of the packages that run in an application. */
export const imports = () =>
  [
    'millrace',
    ...['monitor', 'guard', 'pool', 'cluster', 'nats'].map((name) => `@millrace/${name}`),
  ].flatMap((name) => {
    const manifest = new URL(import.meta.resolve(`${name}/package.json`));
    return Object.keys(JSON.parse(readFileSync(manifest, 'utf8')).exports)
      .filter((path) => !path.endsWith('.json'))
      .map((path) => path.replace(/^\./, name));
  });

/** @param {string[]} options of node @returns {Promise<{ start_ms: number, rss_mb: number }>} */
export async function startNode(options) {
  const say = 'process.stdout.write(String(process.memoryUsage.rss()))';
  const start = performance.now();
  const child = spawn(process.execPath, [...options, '--eval', say], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let rss = '';
  child.stdout.on('data', (text) => {
    rss += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`node ${options.join(' ')} ended with ${code}`);
  return { start_ms: performance.now() - start, rss_mb: Number(rss) / 1e6 };
}
