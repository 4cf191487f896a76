/**
 * SIGKILL during durable appends, at a random moment. Each record that was acknowledged is in the file, whole and in order;
 * at most one is torn, the last, and its checksum tells.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folder } from './folder.js';
import { isWhole } from './record.js';

const child = fileURLToPath(new URL('./kill-child.js', import.meta.url));

for (let round = 1; round <= 5; round++) {
  test(`killed while it appends, ${round}`, async (t) => {
    const file = `${folder(t)}/log`;
    const running = spawn(process.execPath, [child, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const enough = randomInt(1, 1000);
    let text = '';
    running.stdout.setEncoding('latin1');
    running.stdout.on('data', (data) => {
      text += data;
      // About so many acknowledgements later: no clock decides.
      if (text.length > enough * 5) running.kill('SIGKILL');
    });
    const [[, signal]] = await Promise.all([once(running, 'exit'), once(running.stdout, 'end')]);
    assert.equal(signal, 'SIGKILL');

    // The last acknowledgement may be cut short itself: then it was none.
    const acknowledged = text.split('\n').slice(0, -1).map(Number);
    const lines = readFileSync(file, 'latin1').split('\n');
    const tail = lines.pop();
    const whole = lines.filter(isWhole);
    assert.equal(whole.length, lines.length, 'only the last one can be torn');
    assert.ok(!isWhole(tail), 'a tail without its end is no record');
    const numbers = whole.map((line) => Number.parseInt(line, 10));
    assert.deepEqual(
      numbers,
      Array.from(numbers, (_, index) => index),
    );
    const missing = acknowledged.filter((number) => number >= numbers.length);
    assert.deepEqual(missing, []);
    assert.ok(acknowledged.length > 0);
  });
}
