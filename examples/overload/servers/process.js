/** Runs a server in a process of its own: `process.js NAME ITERATIONS`. */
import { createApp } from './app.js';
import { endWithParent } from './lifeline.js';

endWithParent();
const [name, iterations] = process.argv.slice(2);
const { default: protection } = await import(`./${name}.js`);
const app = await createApp(protection, Number(iterations));
await app.listen({ host: '127.0.0.1', port: 0 });
process.send({ port: app.server.address().port });
