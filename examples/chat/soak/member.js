/** The chat in one of the processes. */
import { onDrain } from '@millrace/cluster';
import { startChat } from '../app.js';
import { answer } from './preload.js';

const { port, database, broker, dataDir } = JSON.parse(process.argv[2]);

const chat = await startChat({
  ...{ port, database, broker, dataDir },
  digests: true,
  // A client of the load sends as much as many people.
  floodLimit: 0,
  // A loop that is blocked, or a machine with much else to do, is not an outage of the database.
  limits: { storageTimeoutMs: 20_000 },
  log: (line) => console.error(line),
});
onDrain(() => chat.close());
answer('stats', () => chat.stats());
