#!/usr/bin/env node
import { readArgs, USAGE } from './args.js';

let args;
try {
  args = readArgs(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
if (args.help) {
  console.log(USAGE);
  process.exit(0);
}

const say = args.quiet ? () => {} : (line) => console.log(line);

let chat;
let signals = 0;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    signals += 1;
    // A second signal means now.
    if (signals > 1) process.exit(130);
    if (chat) stop();
  });
}

try {
  // Only here: a wrong option and --help need none of it.
  const { startChat } = await import('./app.js');
  chat = await startChat({ ...args, log: (line) => console.error(line) });
} catch (error) {
  console.error(`The chat could not start: ${explain(error)}`);
  process.exit(1);
}
console.log(`listening on ${chat.url}`);
if (args.port !== 0 && Number(chat.port) !== args.port) {
  say(`port ${args.port} is taken; this is the next free one`);
}
say(
  `policy ${args.policy}, messages in ${chat.storage.kind}, ` +
    (chat.isTemporary
      ? `data in ${chat.dataDir}, removed at the end; --data-dir DIR keeps it`
      : `data in ${chat.dataDir}`),
);
if (signals > 0) stop();

async function stop() {
  say('stopping');
  try {
    await chat.close();
  } catch (error) {
    console.error(`The chat did not stop cleanly: ${explain(error)}`);
    process.exit(1);
  }
  process.exit(0);
}

function explain(error) {
  if (error.code === 'EADDRINUSE') return `port ${args.port} and the hundred after it are taken.`;
  if (error.code === 'EACCES') return `no permission: ${error.message}.`;
  if (error.reason) return `the database is not usable (${error.reason}): ${error.message}`;
  return error.message;
}
