/** A Prometheus of a test's own: its data is in a temporary folder, its port is a free one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { find } from '../../../../scripts/debian.js';

export const commands = { prometheus: find('prometheus'), promtool: find('promtool') };

/**
 * Starts one that scrapes these addresses each two seconds, each under the name of its job; it ends with the test.
 *
 * @param {import('node:test').TestContext} t
 * @param {Record<string, string>} targets HOST:PORT by job
 * @returns {Promise<(path: string, values: Record<string, string>) => Promise<object>>} asks its HTTP API, and returns the data
 */
export async function startPrometheus(t, targets) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-prometheus-'));
  const config = {
    global: { scrape_interval: '2s', scrape_timeout: '2s' },
    scrape_configs: Object.entries(targets).map(([job, target]) => ({
      job_name: job,
      static_configs: [{ targets: [target] }],
    })),
  };
  // JSON is YAML.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const child = spawn(
    commands.prometheus,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  t.after(async () => {
    if (child.exitCode === null) {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    }
    await rm(folder, { recursive: true, force: true });
  });
  const lines = [];
  const address = await new Promise((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      lines.push(line);
      const found = /msg="Listening on".*address=(\S+)/.exec(line);
      if (found) resolve(found[1]);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(lines.join('\n'))));
  });
  const url = `http://${address}`;
  while (!(await fetch(`${url}/-/ready`)).ok) await new Promise((done) => setTimeout(done, 50));
  return async (path, values = {}) => {
    const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(values)}`);
    const { status, data, error } = await answer.json();
    if (status !== 'success') throw new Error(`${JSON.stringify(values)}: ${error}`);
    return data;
  };
}
