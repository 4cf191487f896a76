/** What `go test -fuzz` says at its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTimeUp } from '../lib/go.js';

const end = ['--- FAIL: FuzzLoop (13.01s)', '    context deadline exceeded', 'FAIL'];

test('the end of the time is no failure, whatever Go makes of it', () => {
  assert.equal(isTimeUp(end), true);
});

test('an input that fails is one, also at the end of the time', () => {
  const written = '    Failing input written to testdata/fuzz/FuzzLoop/5838cdfae7b16cde';
  assert.equal(isTimeUp([...end, written]), false);
  assert.equal(isTimeUp([...end, 'panic: no loop']), false);
  assert.equal(isTimeUp(['--- FAIL: FuzzLoop (0.01s)', '    loop_test.go:5: lost', 'FAIL']), false);
});
