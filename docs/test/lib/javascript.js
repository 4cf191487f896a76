/** Runs snippets of JavaScript and TypeScript, each in a process and a folder of its own. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from '../../../scripts/lib/paths.js';

const driver = fileURLToPath(new URL('driver.js', import.meta.url));

/** A snippet that takes longer than this on a busy machine waits for something that does not come. */
const LIMIT_MS = 60_000;

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

/**
 * Runs a snippet.
 *
 * @param {import('./snippets.js').Snippet} snippet
 * @returns {Promise<string>} what it printed
 * @throws {Error} with what it printed, unless it and its check succeed within the time
 */
export async function runSnippet(snippet) {
  const place = workplace();
  const folder = join(place, 'here');
  mkdirSync(folder);
  const isTyped = snippet.kind === 'typescript';
  const path = join(folder, isTyped ? 'snippet.ts' : 'snippet.js');
  writeFileSync(path, asModule(snippet));
  const page = pageFile(snippet.page) ?? '';
  const args = [...(isTyped ? ['--import', 'tsx'] : [])];
  args.push(driver, pathToFileURL(path).href, page, snippet.name);
  try {
    return await output(args, folder);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
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

function output(args, cwd) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        printed += text;
      });
    }
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(printed);
      else reject(new Error(`ended with ${signal ?? code}:\n${printed}`));
    });
  });
}
