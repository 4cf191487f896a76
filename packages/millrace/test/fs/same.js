import assert from 'node:assert/strict';
import {
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import promises from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import * as millrace from 'millrace/fs';
import { folder } from './folder.js';

/** What a caller can see of an error. */
export function describeError(error) {
  const { name, message, code, errno, syscall, path, cause } = error;
  const keys = Object.keys(error).sort();
  return { name, message, code, errno, syscall, path, cause, keys, type: error.constructor.name };
}

async function outcome(run) {
  try {
    return { value: await run() };
  } catch (error) {
    return { error: describeError(error) };
  }
}

function contents(path) {
  const names = readdirSync(path, { encoding: 'buffer' }).sort(Buffer.compare);
  return names.map((name) => {
    const file = Buffer.concat([Buffer.from(`${path}/`), name]);
    const { mode, size } = lstatSync(file);
    const bytes = (mode & constants.S_IFMT) === constants.S_IFREG ? readFileSync(file) : null;
    return { name, mode, size, bytes };
  });
}

/**
 * Does the same with `node:fs/promises` and with `millrace/fs`, each in a new folder of the same name, and compares what
 * came back, errors included, and what is in the folder afterwards.
 */
export function same(title, act, { arrange = () => {}, ...options } = {}) {
  test(title, options, async (t) => {
    const path = join(folder(t), 'folder');
    const results = [];
    for (const fs of [promises, millrace]) {
      mkdirSync(path);
      arrange(path);
      const result = await outcome(() => act(fs, path));
      chmodSync(path, 0o755);
      results.push({ ...result, contents: contents(path) });
      rmSync(path, { recursive: true });
    }
    assert.deepStrictEqual(results[1], results[0]);
  });
}
