/** Values of another realm: those of a vm context, and under Jest all that Node.js itself makes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import vm from 'node:vm';
import { monitor } from '@millrace/monitor';

const foreign = (code) => vm.runInNewContext(code);

test('health() tells the message of a source that throws', (t) => {
  const watch = monitor({ tasks: { broken: () => foreign('throw new Error("gone")') } });
  t.after(() => watch.stop());
  assert.deepEqual(watch.health().tasks, { broken: { error: 'gone' } });
});
