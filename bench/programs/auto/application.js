/** An application as it is: `application.js FILE`. Says the port of its server, and answers questions about itself. */
import { subscribe } from 'node:diagnostics_channel';
import { pathToFileURL } from 'node:url';

subscribe('tracing:net.server.listen:asyncEnd', ({ server }) =>
  process.send({ port: server.address().port }),
);
process.on('message', () => process.send({ rss_mb: process.memoryUsage.rss() / 1e6 }));
process.once('disconnect', () => process.exit());
// The output of a benchmark has nothing but its figures.
console.log = () => {};
await import(pathToFileURL(process.argv[2]).href);
