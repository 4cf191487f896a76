/** Runs a script in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('.', import.meta.url));

/** It ends with the process of the test, also when that is killed. */
const prelude = "process.stdin.on('end', () => process.exit(1)).resume().unref();";

/** Resolves with the exit code, the signal and the output, once the process has ended. `onError` gets its stderr so far, as it grows. */
export async function run(script, { command = [], nodeArgs = [], onError = () => {} } = {}) {
  const args = [
    process.execPath,
    ...nodeArgs,
    '--input-type=module',
    '--eval',
    `${prelude}${script}`,
  ];
  const [file, ...rest] = [...command, ...args];
  const child = spawn(file, rest, { cwd, stdio: 'pipe' });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => {
    stdout += data;
  });
  child.stderr.on('data', (data) => {
    stderr += data;
    onError(stderr);
  });
  const [code, signal] = await once(child, 'close');
  return { code, signal, stdout, stderr };
}

/** The same, for a script that has to succeed and print JSON. */
export async function result(script, options) {
  const { code, signal, stdout, stderr } = await run(script, options);
  if (code !== 0) throw new Error(`exit code ${code}, signal ${signal}: ${stderr}`);
  return JSON.parse(stdout);
}
