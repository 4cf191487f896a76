/** The end of `go test -fuzz`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTimeUp } from '../lib/go.js';

const end = '--- FAIL: FuzzLoop (13.01s)\n    context deadline exceeded\nFAIL\n';

test('the end of the time is not a failure', () => {
  assert.equal(isTimeUp(end), true);
});

test('an input that fails is a failure, also at the end of the time', () => {
  const written = '    Failing input written to testdata/fuzz/FuzzLoop/5838cdfae7b16cde';
  assert.equal(isTimeUp(end + written), false);
  assert.equal(isTimeUp(`${end}panic: no loop`), false);
  assert.equal(isTimeUp('--- FAIL: FuzzLoop (0.01s)\n    loop_test.go:5: lost\nFAIL'), false);
});
