import { parentPort, workerData } from 'node:worker_threads';
import { appendFile, readFile } from 'millrace/fs';

const { file, name } = workerData;

if (name === 'endless') {
  for (let index = 0; ; index++) {
    const all = [appendFile(file, `${index}\n`, { durable: true }), readFile(file)];
    if (index === 5) parentPort.postMessage('running');
    await Promise.allSettled(all);
  }
}

for (let index = 0; index < 500; index++) {
  appendFile(file, `${name} ${index} ${name[0].repeat(index)}\n`);
  if (index % 10 === 0) await readFile(file);
}
