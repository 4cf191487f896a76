/**
 * The snippets of JavaScript and TypeScript as the compiler of a reader sees them: misspelt options and functions that are not there
 * are found even where nothing fails at run time.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { root } from '../../scripts/lib/paths.js';
import { ofKind } from './lib/all.js';
import { workplace } from './lib/javascript.js';

const run = promisify(execFile);

/**
 * What a snippet takes for granted is declared nowhere, nor is what lies beside it; a package in plain JavaScript has no
 * types. That they are right is found by running it.
 */
const EXPECTED = /error TS(2304|2307|2552|2580|7016|18004):/;

/** Errors that are none of the reader, by id. */
const EXCEPT = {
  // A request that a server gets has a `url`, which the types share with an answer.
  'docs/guides/cpu.md#the-program-2': 'TS2345',
  'docs/guides/websocket.md#the-program': 'TS2345',
  'docs/guides/websocket.md#the-change-3': 'TS2345', // also a parameter that may be missing
  'packages/millrace/README.md#millrace-8': 'TS2345', // the WebSocket of `ws`, not the one of Node.js
};

const options = {
  ...{ allowJs: true, checkJs: true, noEmit: true, skipLibCheck: true },
  ...{
    target: 'ES2023',
    lib: ['ES2023'],
    module: 'NodeNext',
    types: ['node'],
    typeRoots: ['node_modules/@types'],
  },
  ...{ strict: true, noImplicitAny: false, useUnknownInCatchVariables: false },
};

test('snippets have no type errors', async (t) => {
  const folder = workplace();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const snippets = ofKind('javascript', 'typescript');
  const names = snippets.map(({ kind, code }, i) => {
    const name = `snippet${i}.${kind === 'typescript' ? 'ts' : 'js'}`;
    writeFileSync(join(folder, name), `${code}\nexport {};\n`);
    return name;
  });
  const settings = { compilerOptions: options, files: names };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const compiler = join(root, 'node_modules/typescript/lib/tsc.js');
  const { stdout } = await run(process.execPath, [compiler, '--pretty', 'false'], {
    cwd: folder,
  }).catch((error) => error);
  const errors = stdout
    .split('\n')
    // The lab is JavaScript, whose own files are checked where its types are made.
    .filter((line) => /^snippet\d+\..*error TS/.test(line) && !EXPECTED.test(line))
    .map((line) => line.replace(/^snippet(\d+)\.\ws/, (_, i) => snippets[i].id))
    .filter((line) => !line.includes(`error ${EXCEPT[line.split('(')[0]]}:`));
  assert.deepEqual(errors, []);
});
