/** Runs snippets of JavaScript and TypeScript, each in a folder of its own: several in a process, or one that must be alone there. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from '../../../scripts/lib/paths.js';

const driver = fileURLToPath(new URL('driver.js', import.meta.url));

/** A program that takes longer than this on a busy machine waits for something that does not come. */
const LIMIT_MS = 300_000;

/** Code that changes the whole process, or that is run again in others. */
const ALONE =
  /millrace\/auto|\/cluster\b|\binstall\(|\bprometheus\(|\bopenTelemetry\(|\bprocess\.argv\b/;

/**
 * What a file of docs/test/pages exports; its name is that of the page, with - for / and without .md.
 *
 * @typedef {object} Page
 * @property {(name: string) => object | Promise<object>} [setup] makes what the snippet of that name takes for granted: files in
 *   the working directory, which is its own, and the names that it returns
 * @property {Record<string, (exported: object) => unknown>} [checks] by name: throws unless what the snippet has done is
 *   right; is given what the snippet declares at its top level
 */

/**
 * A folder in which packages are found as they are at the root.
 *
 * @returns {string} its path; to be removed
 */
export function workplace() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-docs-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  return folder;
}

/** Reports whether a snippet needs a process of its own. */
export const isAlone = ({ code, kind, page }) =>
  kind === 'typescript' || ALONE.test(code) || page.includes('cluster');

/**
 * Runs a snippet in a process of its own.
 *
 * @param {import('./snippets.js').Snippet} snippet
 * @returns {Promise<string>} what it printed
 * @throws {Error} with what it printed, unless it and its check succeed within the time
 */
export async function runSnippet(snippet) {
  const place = workplace();
  const loader = snippet.kind === 'typescript' ? ['--import', 'tsx'] : [];
  try {
    const { code, printed } = await ended([...loader, driver, ...written(snippet, place)], place);
    if (code === 0) return printed;
    throw new Error(`ended with ${code}:\n${printed}`);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/**
 * Runs snippets one after another in one process.
 *
 * @param {import('./snippets.js').Snippet[]} snippets of JavaScript
 * @returns {Promise<Set<import('./snippets.js').Snippet>>} those that have succeeded, with their checks
 */
export async function runTogether(snippets) {
  const places = snippets.map(() => workplace());
  try {
    const args = snippets.flatMap((snippet, i) => written(snippet, places[i]));
    const { told } = await ended([driver, ...args], places[0]);
    const numbers = new Set(told.split('\n').filter((line) => line !== ''));
    return new Set(snippets.filter((_, i) => numbers.has(`${i}`)));
  } finally {
    for (const place of places) rmSync(place, { recursive: true, force: true });
  }
}

/** Writes a snippet into a folder of a workplace; the arguments of the driver for it. */
function written(snippet, place) {
  const folder = join(place, 'here');
  mkdirSync(folder);
  const path = join(folder, snippet.kind === 'typescript' ? 'snippet.ts' : 'snippet.js');
  writeFileSync(path, asModule(snippet));
  return [pathToFileURL(path).href, pageFile(snippet.page) ?? '', snippet.name];
}

/** The URL of the file for a page, or undefined if it takes nothing for granted. */
function pageFile(page) {
  const name = page.replace(/\.md$/, '').replaceAll('/', '-');
  const url = new URL(`../pages/${name}.js`, import.meta.url);
  return existsSync(url) ? url.href : undefined;
}

/** A snippet as a module: any port will do, and any broker; what it declares is exported for the check. */
function asModule({ code }) {
  const names = [...code.matchAll(/^(?:const|let|class|(?:async )?function) (\w+)/gm)];
  const exported = names.map(([, name]) => name).join(', ');
  const run = code
    .replace(/(\blisten\(|\bport: )\d{4}\b/g, '$10')
    .replaceAll("'nats://127.0.0.1:4222'", 'process.env.BROKER');
  return `${run}\nexport { ${exported} };\n`;
}

/** Runs Node.js to its end. `told`: what it has written to descriptor 3. */
function ended(args, cwd) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const stdio = ['ignore', 'pipe', 'pipe', 'pipe'];
    const child = spawn(process.execPath, args, { cwd, env, stdio });
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    const program = { code: null, printed: '', told: '' };
    const [, output, errors, numbers] = child.stdio;
    for (const stream of [output, errors]) {
      stream.setEncoding('utf8').on('data', (text) => {
        program.printed += text;
      });
    }
    numbers.setEncoding('utf8').on('data', (text) => {
      program.told += text;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ ...program, code: signal ?? code });
    });
  });
}
