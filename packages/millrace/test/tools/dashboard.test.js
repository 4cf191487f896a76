import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import test from 'node:test';
import { folderWith, millrace, start } from './help.js';

const SERVER = `require('node:http').createServer((req, res) => res.end('hello'))
  .listen(0, '127.0.0.1', function () { console.log(\`app \${this.address().port} \${process.argv.slice(2)}\`) });`;

const ADDRESS = /the dashboard is at (http:\/\/\S+)\n/;

/** A port that is taken until the test ends. */
async function takenPort(t, port = 0) {
  const server = createServer().listen(port, '127.0.0.1');
  t.after(() => server.close());
  try {
    await once(server, 'listening');
  } catch {
    return port; // By others, which does as well.
  }
  return server.address().port;
}

/** Starts the server; the address that is printed, and what ends it. */
async function served(t, args, options = {}) {
  const cwd = folderWith(t, { 'app.cjs': SERVER });
  const { child, ended, seen } = start(['run', ...args, 'app.cjs', '--port', '5'], {
    cwd,
    ...options,
  });
  t.after(() => child.kill());
  await Promise.all([seen('the dashboard is at'), seen('app ')]);
  const end = () => {
    child.kill();
    return ended;
  };
  return { end };
}

test('the dashboard is served and its address printed, on one line', async (t) => {
  const { end } = await served(t, ['--port', '0']);
  const ended = await end();
  assert.match(ended.output, /^app \d+ --port,5\n$/);
  assert.equal(ended.errors.trim().split('\n').length, 1, ended.errors);
  assert.match(ended.errors, ADDRESS);
});

test('the page is there while the application runs', async (t) => {
  const cwd = folderWith(t, {
    'app.mjs': `setInterval(() => {}, 1000); process.stdin.on('data', () => process.exit(0)); console.log('up');`,
  });
  const { child, ended, seen } = start(['run', '--port=0', 'app.mjs'], { cwd, input: null });
  t.after(() => child.kill());
  await seen('up');
  const [, url] = ADDRESS.exec(await seen('the dashboard is at'));
  const answer = await fetch(url);
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /<html/i);
  child.stdin.write('x');
  assert.equal((await ended).code, 0);
});

test('a default port in use is replaced by a free one, and a requested port in use is refused', async (t) => {
  const usual = await takenPort(t, 7117);
  const { end } = await served(t, []);
  const [, url] = ADDRESS.exec((await end()).errors);
  assert.notEqual(Number(new URL(url).port), usual);
  const cwd = folderWith(t, { 'app.js': 'console.log("started")' });
  const port = String(await takenPort(t));
  const { code, output, errors } = await millrace(['run', '--port', port, 'app.js'], { cwd });
  assert.equal(code, 1);
  assert.equal(output, '');
  assert.equal(
    errors,
    `millrace run: port ${port} of 127.0.0.1 is taken; without --port a free one is chosen.\n`,
  );
});

const LISTED = `const { execFileSync } = require('node:child_process');
setTimeout(() => {
  let inherited = true;
  try { execFileSync('sh', ['-c', 'readlink /proc/$$/fd/3']); } catch { inherited = false; }
  console.log(JSON.stringify({ inherited, env: process.env.MILLRACE_DASHBOARD_FD ?? null }));
  setInterval(() => {}, 1000);
}, 10);`;

test('of several that start at once each gets a port, and of those that want one port one does', async (t) => {
  const cwd = folderWith(t, { 'app.cjs': LISTED });
  const four = (...args) =>
    Array.from({ length: 4 }, () => {
      const one = start(['run', ...args, 'app.cjs'], { cwd });
      t.after(() => one.child.kill());
      return one;
    });
  const urls = await Promise.all(
    four().map(async ({ seen, child, ended }) => {
      const [, url] = ADDRESS.exec(await seen('the dashboard is at'));
      assert.equal((await fetch(url)).status, 200);
      await seen('inherited');
      child.kill();
      assert.match((await ended).output, /^\{"inherited":false,"env":null\}\n$/);
      return url;
    }),
  );
  assert.equal(new Set(urls).size, 4);
  // Somebody else may have got the port meanwhile; then another one is tried.
  let outcome;
  do {
    outcome = await together(four('--port', String(await freePort())));
  } while (outcome.won.length === 0);
  assert.equal(outcome.won.length, 1);
  assert.equal(outcome.refused.length, 3);
  for (const { code, errors } of outcome.refused) {
    assert.equal(code, 1);
    assert.match(errors, /^millrace run: port \d+ of 127\.0\.0\.1 is taken; .*\.\n$/);
  }
});

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Those that serve a dashboard, and those that have ended. */
async function together(starts) {
  const [won, refused] = [[], []];
  await Promise.all(
    starts.map(async ({ ended, seen }) => {
      const serves = seen('the dashboard is at').then(
        () => won.push(1),
        () => {},
      );
      await Promise.race([serves, ended.then((result) => refused.push(result))]);
    }),
  );
  return { won, refused };
}

test('an address that is not of this machine is refused before anything is started', async (t) => {
  const cwd = folderWith(t, { 'app.js': 'console.log("started")' });
  const { code, output, errors } = await millrace(['run', '--host', '192.0.2.1', 'app.js'], {
    cwd,
  });
  assert.equal(code, 1);
  assert.equal(output, '');
  assert.match(errors, /^millrace run: the dashboard cannot listen on 192\.0\.2\.1: .*\.\n$/);
});

test('others need a token, and get one', async (t) => {
  const cwd = folderWith(t, { 'app.cjs': SERVER });
  const { child, seen } = start(['run', '--host', '0.0.0.0', 'app.cjs'], { cwd });
  t.after(() => child.kill());
  const errors = await seen('the dashboard is at');
  const [, port, token] = /a token: http:\/\/\S+:(\d+)\/\?token=([\w-]{24})\n/.exec(errors);
  assert.match(errors, new RegExp(`at http://0\\.0\\.0\\.0:${port}/`));
  const page = `http://127.0.0.1:${port}/`;
  assert.equal((await fetch(page)).status, 401);
  const headers = { authorization: `Bearer ${token}` };
  assert.equal((await fetch(page, { headers })).status, 200);
});

test('settings of the file count where the command line says nothing', async (t) => {
  const cwd = folderWith(t, {
    'millrace.config.json':
      '{ "dashboard": { "host": "127.0.0.2", "port": 0, "token": "of the file" } }',
    'env.js': 'console.log(process.env.MILLRACE_DASHBOARD, process.env.MILLRACE_DASHBOARD_TOKEN)',
  });
  const plain = await millrace(['run', 'env.js'], { cwd });
  assert.match(plain.output, /^127\.0\.0\.2:\d{2,5} of the file\n$/);
  const own = await millrace(['run', '--host', 'localhost', '--token', 'long enough', 'env.js'], {
    cwd,
  });
  assert.match(own.output, /^localhost:\d{2,5} long enough\n$/);
});

test('nothing is served where it is not wanted', async (t) => {
  const cwd = folderWith(t, { 'env.js': 'console.log(process.env.MILLRACE_DASHBOARD)' });
  for (const MILLRACE of ['off', 'no-dashboard']) {
    const { code, output, errors } = await millrace(['run', 'env.js'], { cwd, env: { MILLRACE } });
    assert.deepEqual({ code, output, errors }, { code: 0, output: 'undefined\n', errors: '' });
  }
});

test('invalid settings are reported before the application is started', async (t) => {
  const cwd = folderWith(t, { 'bad.json': '{ "gard": true }', 'app.js': 'console.log("started")' });
  for (const command of ['run', 'observe']) {
    const { code, output, errors } = await millrace([command, '--config', 'bad.json', 'app.js'], {
      cwd,
    });
    assert.equal(code, 2);
    assert.equal(output, '');
    assert.match(errors, new RegExp(`^millrace ${command}: .*gard.*guard.*\\n$`));
  }
  const { findings } = JSON.parse(
    (await millrace(['doctor', '--json'], { cwd, env: { MILLRACE_CONFIG: 'bad.json' } })).output,
  );
  const { state, found } = findings.find(({ name }) => name === 'settings');
  assert.equal(state, 'warning');
  assert.match(found, /gard/);
});

test('all processes of a cluster know the dashboard', async (t) => {
  const cwd = folderWith(t, {
    'app.cjs': `const cluster = require('node:cluster');
      if (cluster.isPrimary) cluster.fork().on('exit', (code) => process.exit(code));
      else { console.log(process.env.MILLRACE_FEED === process.env.MILLRACE_DASHBOARD, process.execArgv.length); process.exit(4); }`,
  });
  const { code, output } = await millrace(['run', '--port=0', 'app.cjs'], { cwd });
  assert.equal(output, 'true 2\n');
  assert.equal(code, 4);
});
