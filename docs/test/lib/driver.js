/**
 * The program that snippets run in, one after another: `driver.js (SNIPPET PAGE NAME)…`. What a page takes for granted is put into the
 * global scope, the snippet is loaded in its folder, and what must be so afterwards is checked. Then it ends, whatever the snippets have
 * left open. Of several it writes the numbers of those that were right to descriptor 3; a single one fails it.
 */
import cluster from 'node:cluster';
import { writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** What a snippet begins and does not wait for can fail in this time. */
const AFTER_MS = 50;

const given = process.argv.slice(2);
const isOne = given.length === 3;
for (let at = 0; at < given.length; at += 3) {
  const number = at / 3;
  try {
    await run(number, ...given.slice(at, at + 3));
    if (!isOne) writeSync(3, `${number}\n`);
  } catch (error) {
    if (isOne) throw error;
    console.error(`${given[at + 2]}: ${error?.stack ?? error}`);
  }
}
if (!cluster.isWorker) process.exit();

async function run(number, snippet, page, name) {
  process.chdir(dirname(fileURLToPath(snippet)));
  const env = { ...process.env };
  // With a number: what a page keeps is of one snippet.
  /** @type {import('./javascript.js').Page} */
  const { setup, checks = {} } = page ? await import(`${page}?${number}`) : {};
  const forget = addGlobals((await setup?.(name)) ?? {});
  const exported = await import(snippet);
  if (cluster.isWorker) return;
  await sleep(AFTER_MS);
  await checks[name]?.(exported);
  if (isOne) return;
  forget();
  for (const key of Object.keys(process.env)) if (!(key in env)) delete process.env[key];
  Object.assign(process.env, env);
}

/** Puts names into the global scope. @returns {() => void} takes them out of it */
function addGlobals(names) {
  const before = Object.keys(names).map((name) => [
    name,
    Object.getOwnPropertyDescriptor(globalThis, name),
  ]);
  Object.assign(globalThis, names);
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) delete globalThis[name];
      else Object.defineProperty(globalThis, name, descriptor);
    }
  };
}
