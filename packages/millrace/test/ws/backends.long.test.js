/** The same tests for the native way in which frames do not leave in the suite itself, which takes the one that a probe prefers. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const suites = ['model.test.js', 'install-model.test.js', 'direct.test.js', 'slow.test.js'];
const settings = {
  send: { MILLRACE_FANOUT: 'send' },
  io_uring: { MILLRACE_FANOUT: 'io_uring' },
};

async function run(args, env) {
  const all = { ...process.env, ...env };
  // Else it would report to the runner of this file.
  delete all.NODE_TEST_CONTEXT;
  if (env.MILLRACE_NATIVE === undefined) delete all.MILLRACE_NATIVE;
  const child = spawn(process.execPath, args, { env: all, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data;
    });
  }
  const [code] = await once(child, 'close');
  return { code, output };
}

/** Which back-end a process with these settings has, or what its error says. */
async function backendWith(env) {
  const program = `import { Rooms } from 'millrace/ws';
    try { console.log(new Rooms().stats().backend); } catch (error) { console.log(error.code, error.message); }`;
  const { output } = await run(['--input-type=module', '--eval', program], env);
  return output.trim();
}

const inJavaScript = process.env.MILLRACE_NATIVE === '0';
/** The one of these files themselves, when they run without a setting. */
const preferred = inJavaScript ? 'js' : await backendWith({ MILLRACE_FANOUT: '' });
for (const [backend, env] of inJavaScript ? [] : Object.entries(settings)) {
  if (backend === preferred) continue;
  test(`${backend}: slow, random and broken sockets`, async (t) => {
    const found = await backendWith(env);
    if (found !== backend) {
      // Many containers forbid it. Then whoever asks for it has to hear that.
      assert.match(found, /^MILLRACE_E_INVALID_OPTION .*but this system refuses it/);
      t.diagnostic(found);
      return;
    }
    const { code, output } = await run(['--test', '--test-reporter=tap', ...suites.map(file)], env);
    assert.equal(code, 0, output);
    assert.match(output, /# pass [1-9]/);
  });
}

test('the backend of the suite is one of them', () => {
  assert.ok(preferred === 'js' ? inJavaScript : preferred in settings, preferred);
});

test('a setting that does not exist is an error at the first use', async () => {
  assert.equal(
    await backendWith({ MILLRACE_FANOUT: 'uring' }),
    `MILLRACE_E_INVALID_OPTION the environment: 'MILLRACE_FANOUT' is "uring"; it must be auto, send, io_uring, or not set`,
  );
});

test('an empty setting is none', async () => {
  assert.match(await backendWith({ MILLRACE_FANOUT: '' }), /^(js|send|io_uring)$/);
  assert.equal(await backendWith({ MILLRACE_FANOUT: '', MILLRACE_NATIVE: '0' }), 'js');
});
