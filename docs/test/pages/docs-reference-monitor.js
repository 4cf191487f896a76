import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { monitor } from '@millrace/monitor';

const require = createRequire(import.meta.url);

export const setup = () => ({ monitor, require, server: createServer() });

export const checks = {
  example: ({ loop }) => assert.equal(loop.limit, 100),
  'from-loopbench-2': ({ loopbench }) => assert.equal(loopbench, monitor),
};
