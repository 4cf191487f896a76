#!/usr/bin/env node
import { readArgs, USAGE } from './args.js';
import { measureCapacity } from './control/calibrate.js';
import { compare } from './control/compare.js';
import { Generator } from './control/generator.js';
import { Show } from './control/show.js';
import { createWeb } from './control/web.js';
import { iterationsFor } from './servers/work.js';
import { HANDLER_MS } from './settings.js';

const say = (line) => console.log(line);

let args;
try {
  args = readArgs(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
if (args.help) {
  say(USAGE);
  process.exit(0);
}

// The children end with this process, in whatever way it ends.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));

try {
  const iterations = iterationsFor(HANDLER_MS);
  const generator = new Generator();
  if (!args.capacity) say('measuring what one server can do…');
  const capacity = args.capacity ?? (await measureCapacity(iterations, generator));
  const parts = { ...args, iterations, generator, capacity };
  if (args.compare) {
    await compare({ ...parts, say });
    process.exit(0);
  }
  await serve(parts);
} catch (error) {
  console.error(`The example ended: ${explain(error)}`);
  process.exit(1);
}

async function serve({ port, ...parts }) {
  const { generator, capacity } = parts;
  const show = new Show(parts);
  const web = await createWeb({ ...parts, show });
  await web.listen({ host: '127.0.0.1', port });
  say(`listening on http://127.0.0.1:${web.server.address().port}`);
  say(`one server can do ${capacity.toFixed(1)} requests a second`);
  await Promise.race([
    show.run(),
    generator.exited.then((how) => {
      throw new Error(`the load generator ended with ${how}`);
    }),
  ]);
}

function explain(error) {
  if (error.code === 'EADDRINUSE') return `port ${error.port} is taken; --port 0 takes any.`;
  return error.message;
}
