/** Runs a test file of a peer's own package, with Millrace in place of the peer. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';

/**
 * @param {string} file
 * @param {object} options
 * @param {string[]} options.args of Node.js; they put Millrace in the peer's place
 * @param {Record<string, string>} options.env
 * @param {string[]} [options.differs] titles of the tests that have to fail, because Millrace differs on purpose
 * @returns {Promise<string>} the output of the run, in TAP
 */
export async function checkFile(file, { args, env, differs = [] }) {
  const { code, output } = await run(file, args, env);
  const failed = [...output.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, title]) => title);
  const [, count] = /^# tests (\d+)$/m.exec(output) ?? [];
  assert.ok(Number(count) > 0, output);
  assert.deepEqual(failed.sort(), differs.toSorted(), output);
  assert.equal(code, differs.length > 0 ? 1 : 0, output);
  return output;
}

function run(file, args, more) {
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const child = spawn(process.execPath, ['--no-warnings', ...args, '--test-reporter=tap', file], {
    cwd: import.meta.dirname,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
