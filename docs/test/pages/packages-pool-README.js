import assert from 'node:assert/strict';
import { setup as setupOfGuide } from './docs-reference-pool.js';

export const setup = async () => void (await setupOfGuide('a-first-example-2'));

export const checks = {
  'millracepool-2': ({ digits }) => assert.equal(String(digits).length, 2090),
};
