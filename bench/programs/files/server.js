/** A static file server: `node server.js SUBJECT FOLDER` says its port, and counts what it reads and what that costs. */
import { createServer } from 'node:http';
import { pathOf } from './corpus.js';
import { counts } from './sizes.js';
import { refused, statsOf, subjects } from './subjects.js';

const [subject, folder] = process.argv.slice(2);
const read = await subjects[subject]();
const stats = await statsOf(subject);
const paths = Array.from({ length: counts['4KB'] }, (_, number) => pathOf(folder, '4KB', number));
let reads = 0;

const server = createServer((request, response) => {
  reads++;
  read(paths[Number(request.url.slice(1))]).then(
    (bytes) => {
      response.writeHead(200, {
        'Content-Type': 'application/octet-stream',
        'Content-Length': bytes.length,
      });
      response.end(bytes);
    },
    (error) => {
      response.writeHead(500);
      response.end(error.message);
    },
  );
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));

let cpu;
process.on('message', async (what) => {
  if (what === 'start') {
    cpu = process.cpuUsage();
    process.send({ started: true });
    return;
  }
  const { user, system } = process.cpuUsage(cpu);
  const wrong = subject === 'millrace' ? await refused(reads, stats()) : null;
  process.send({ cpu_us: user + system, wrong });
});
process.once('disconnect', () => process.exit());
