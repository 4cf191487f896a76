#!/usr/bin/env node
import { readArgs, USAGE } from './args.js';
import { measure } from './measure.js';
import { CursorServer } from './server.js';

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

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));

try {
  if (args.measure) {
    await measure(args, say);
    process.exit(0);
  }
  const server = new CursorServer(args);
  const port = await server.listen(args.port);
  server.start();
  say(`listening on http://127.0.0.1:${port}`);
} catch (error) {
  const isTaken = error.code === 'EADDRINUSE';
  const why = isTaken ? `port ${error.port} is taken; --port 0 takes any.` : error.message;
  console.error(`The example ended: ${why}`);
  process.exit(1);
}
