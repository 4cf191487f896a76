import assert from 'node:assert/strict';
import { register } from 'prom-client';

export const checks = {
  'millracemonitor-2': ({ loop }) => assert.equal(loop.limit, 100),
  'millracemonitor-3': async () => assert.match(await register.metrics(), /^# HELP millrace_/m),
};
