/** Programs that ask a database, as their own processes: what `observe` tells of them. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnv, folderWith } from '../help.js';

const start = fileURLToPath(new URL('../../../dist/auto/start.cjs', import.meta.url));
const modules = fileURLToPath(new URL('../../../../../node_modules', import.meta.url));

/** Runs a program to its end. `$NAME/FILE` in its text is the path of a file of a package, as it is in a folder elsewhere. */
export async function observed(t, name, text, env = {}) {
  const placed = text.replaceAll(/\$([\w-]+\/[\w./-]+)/g, (_, path) => join(modules, path));
  const folder = folderWith(t, { [name]: placed });
  const json = join(folder, 'report.json');
  const child = spawn(process.execPath, ['--require', start, join(folder, name)], {
    cwd: folder,
    env: cleanEnv({ ...env, MILLRACE: 'observe', MILLRACE_OBSERVE_JSON: json }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr']) {
    child[stream].setEncoding('utf8').on('data', (data) => {
      output[stream] += data;
    });
  }
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${output.stderr}`);
  const report = JSON.parse(readFileSync(json, 'utf8'));
  // What only this run has: where it was.
  for (const each of report.queries.statements) {
    each.places = each.places.map(({ file, line }) => `${file.slice(folder.length + 1)}:${line}`);
  }
  return { ...output, report };
}

/** `code` with `values` in place of its imports and of what it would do with them: the function `name` that it defines. */
export function defined(code, name, values) {
  const body = code
    .split('\n')
    .filter((line) => !/^(import |const rows = await |await insert|insertAll\(rows)/.test(line))
    .join('\n');
  return new Function(...Object.keys(values), `${body}\nreturn ${name};`)(...Object.values(values));
}
