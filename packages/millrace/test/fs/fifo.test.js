/** FIFOs: whoever is on the other end decides how long it takes, and no other file waits for that. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { test } from 'node:test';
import { appendFile, readFile, writeFile } from 'millrace/fs';
import { folder } from './folder.js';

function fifo(path, name = 'fifo') {
  execFileSync('mkfifo', [`${path}/${name}`]);
  return `${path}/${name}`;
}

test('the data of a writer is read to its end', async (t) => {
  const pipe = fifo(folder(t));
  const reading = readFile(pipe, 'utf8');
  const writer = await open(pipe, 'w');
  await writer.write('one ');
  await writer.write('two');
  await writer.close();
  assert.equal(await reading, 'one two');
});

test('a writer that waits for its reader loses nothing', async (t) => {
  const pipe = fifo(folder(t));
  const opening = open(pipe, 'w').then(async (writer) => {
    await writer.write('sent');
    await writer.close();
  });
  const [text] = await Promise.all([readFile(pipe, 'utf8'), opening]);
  assert.equal(text, 'sent');
});

test('an append reaches the reader', async (t) => {
  const pipe = fifo(folder(t));
  const appending = appendFile(pipe, 'appended');
  const reader = await open(pipe, 'r');
  assert.equal(await reader.readFile('utf8'), 'appended');
  await reader.close();
  await appending;
});

test('appends of more than the FIFO holds wait for the reader', async (t) => {
  const pipe = fifo(folder(t));
  const records = Array.from({ length: 100 }, (_, index) => `${index},`.repeat(2000));
  const appending = Promise.all(records.map((record) => appendFile(pipe, record)));
  const reader = await open(pipe, 'r');
  assert.ok((await reader.readFile('utf8')) === records.join(''));
  await reader.close();
  await appending;
});

for (const write of [writeFile, appendFile]) {
  test(`${write.name} and a later read in one process meet`, async (t) => {
    const pipe = fifo(folder(t));
    const [, text] = await Promise.all([write(pipe, 'met'), readFile(pipe, 'utf8')]);
    assert.equal(text, 'met');
  });
}

/** The descriptor of a writer; null as long as there is no reader. */
function writerOf(pipe) {
  try {
    return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (error.code !== 'ENXIO') throw error;
    return null;
  }
}

test('files in the same tick do not wait for a FIFO', async (t) => {
  const path = folder(t);
  const pipes = [fifo(path, 'one'), fifo(path, 'two')];
  for (let index = 0; index < 200; index++) writeFileSync(`${path}/${index}`, `file ${index}`);
  const reading = pipes.map((pipe) => readFile(pipe, 'utf8'));
  const others = Array.from({ length: 200 }, (_, index) => readFile(`${path}/${index}`, 'utf8'));
  reading.push(readFile(pipes[0], 'latin1'));
  const texts = await Promise.all(others);
  for (const [index, text] of texts.entries()) assert.equal(text, `file ${index}`);
  await appendFile(`${path}/0`, ' more');
  assert.equal(await readFile(`${path}/0`, 'utf8'), 'file 0 more');
  let isRead = false;
  const read = Promise.all(reading).finally(() => {
    isRead = true;
  });
  // Now the writers come, and leave: each reader sees an end, also one that has opened its FIFO after them.
  for (const pipe of pipes) {
    let fd = writerOf(pipe);
    for (; fd === null; fd = writerOf(pipe)) await new Promise(setImmediate);
    writeSync(fd, 'late');
    closeSync(fd);
  }
  while (!isRead) {
    for (const fd of pipes.map(writerOf)) if (fd !== null) closeSync(fd);
    await new Promise(setImmediate);
  }
  const late = await read;
  // Two readers of one FIFO share what comes.
  assert.deepEqual(
    [late[0] + late[2], late[1]].map((text) => text.length),
    [4, 4],
  );
});
