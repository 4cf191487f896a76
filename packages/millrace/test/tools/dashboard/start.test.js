// What auto starts: serve or feed, and one sentence on stderr.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../../../../../scripts/lib/program-tests.js';
import { copyOf, run as runIn } from '../../native/copy.js';
import { processes, serve, watch } from './support.js';

const starter = fileURLToPath(new URL('starter.js', import.meta.url));

/** The starter with these arguments, and its output when it has ended. */
function begin(args, env = {}, how = '') {
  const child = spawn(process.execPath, [starter, JSON.stringify(args), how], {
    env: { ...process.env, ...env },
  });
  const output = { out: '', errors: '' };
  child.stdout.on('data', (text) => {
    output.out += text;
  });
  child.stderr.on('data', (text) => {
    output.errors += text;
  });
  const ended = once(child, 'close').then(([code]) => ({ ...output, code }));
  return { child, ended };
}

const run = (args, env) => begin(args, env).ended;

test('it tells the address, leaves the way for children, and keeps nothing alive', async () => {
  const { code, out, errors } = await run({ host: '127.0.0.1', port: 0, token: null });
  assert.equal(code, 0);
  assert.match(errors, /^millrace: the dashboard is at http:\/\/127\.0\.0\.1:(\d+)\/\n$/);
  const [, port] = /:(\d+)\//.exec(errors);
  const env = JSON.parse(out);
  assert.equal(env.MILLRACE_FEED, `127.0.0.1:${port}`);
  assert.match(env.MILLRACE_FEED_TOKEN, /^[0-9a-f]{32}$/);
});

test('with the port taken, the application goes on without a dashboard', async (t) => {
  const { port } = await serve(t);
  const { code, out, errors } = await run({ host: '127.0.0.1', port, token: null });
  assert.equal(code, 0);
  assert.equal(
    errors,
    `millrace: no dashboard: port ${port} is taken; set MILLRACE_DASHBOARD=127.0.0.1:0 for a free one\n`,
  );
  assert.deepEqual(JSON.parse(out), {});
});

test('a package that was built without uPlot is refused with the way out', async (t) => {
  const folder = copyOf(t, { addon: null });
  rmSync(join(folder, 'node_modules/millrace/dist/uplot'), { recursive: true });
  const program = `
    import('millrace/dashboard')
      .then(({ serveDashboard }) => serveDashboard({ port: 0 }))
      .catch(({ code, message }) => console.log(JSON.stringify({ code, message })));
  `;
  const { code, message } = await runIn(folder, { program });
  assert.equal(code, 'MILLRACE_E_BUNDLED');
  assert.match(message, /^the dashboard needs .*uplot, which is missing; .* or run npm run build/);
});

test('without a token it does not serve to others', async () => {
  const { code, errors } = await run({ host: '0.0.0.0', port: 0, token: null });
  assert.equal(code, 0);
  assert.match(
    errors,
    /^millrace: no dashboard: serveDashboard\(\): 'token' is null; it must be given for 0\.0\.0\.0, .*\n$/,
  );
});

test('with the way in its environment it feeds, and says nothing', async (t) => {
  const dashboard = await serve(t);
  const env = {
    MILLRACE_FEED: `127.0.0.1:${dashboard.port}`,
    MILLRACE_FEED_TOKEN: dashboard.feedToken,
    MILLRACE_FEED_PID: '1',
  };
  const { child, ended } = begin({ port: 0 }, env, 'waits');
  t.after(() => child.kill('SIGKILL'));
  await until(async () => (await processes(dashboard)).length === 2);
  child.stdin.end();
  const { code, errors } = await ended;
  assert.equal(code, 0);
  assert.equal(errors, '');
});

test('a viewer does not keep it alive', async (t) => {
  const { child, ended } = begin({ port: 0 }, {}, 'waits');
  t.after(() => child.kill('SIGKILL'));
  const [line] = await once(child.stderr, 'data');
  const port = Number(/:(\d+)\//.exec(line)[1]);
  const viewer = await watch(t, { port });
  assert.equal(viewer.status, 200);
  child.stdin.end();
  assert.equal((await ended).code, 0);
});

test('a feed to port 0 is left out, and the application goes on', async () => {
  const env = { MILLRACE_FEED: '127.0.0.1:0', MILLRACE_FEED_TOKEN: 'a', MILLRACE_FEED_PID: '1' };
  const { code, errors } = await run({ host: '127.0.0.1', port: 0, token: null }, env);
  assert.deepEqual([code, errors], [0, '']);
});
