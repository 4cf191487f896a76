/**
 * The program that a snippet runs in: `driver.js SNIPPET PAGE NAME`. What its page takes for granted is put into the global
 * scope, the snippet is loaded, and what must be so afterwards is checked. Then it ends, whatever the snippet has left open.
 */
import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';

const [snippet, page, name] = process.argv.slice(2);

/** What a snippet begins and does not wait for can fail in this time. */
const AFTER_MS = 50;

/** @type {import('./javascript.js').Page} */
const { setup, checks = {} } = page ? await import(page) : {};
Object.assign(globalThis, await setup?.(name));
const exported = await import(snippet);
if (!cluster.isWorker) {
  await sleep(AFTER_MS);
  await checks[name]?.(exported);
  process.exit();
}
