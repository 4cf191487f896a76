import { SERVERS } from '../servers/index.js';
import { SLOT_MS } from '../settings.js';
import { takeSlots } from './calibrate.js';
import { startServer } from './server.js';
import { summarize } from './summary.js';
import { headings, LEGEND, row } from './table.js';

/** Compares one server after the other, each a new process and the only one: a line for each as soon as it is measured. */
export async function compare({
  iterations,
  generator,
  capacity,
  load,
  connections,
  clients,
  seconds,
  seed,
  say,
}) {
  const what = clients
    ? `${clients} clients that ask again as soon as they are answered`
    : `${load.toFixed(2)} times that, Poisson arrivals, ${connections} connections open`;
  say(
    `One server can do ${capacity.toFixed(1)} requests a second; offered: ${what}, for ${seconds} s.\n`,
  );
  say(headings());
  for (const { name, title, keepsCopies } of SERVERS) {
    const server = await startServer(name, iterations);
    const offered = clients ? { clients } : { rate: load * capacity, connections };
    generator.drive({ port: server.port, seed, ...offered });
    const slots = await takeSlots(generator, Math.round((seconds * 1000) / SLOT_MS));
    generator.stop();
    await server.end();
    say(row(title, summarize(slots, { capacity, keepsCopies })));
  }
  say(LEGEND);
}
