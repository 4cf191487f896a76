#!/usr/bin/env node
import { once } from 'node:events';
import { readArgs, USAGE } from './args.js';
import { startPhotos } from './photos/start.js';

const say = (line) => console.log(line);
const log = (line) => console.error(line);

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

try {
  const photos = args.photos ? { url: args.photos } : await startPhotos({ log });
  const { port, host, cluster, workers, threads, queue, data, blockingN } = args;
  const service = { threads, queue, data, host, blockingN, photos: photos.url };
  await (cluster ? startCluster({ port, host, workers }, service) : start({ port, host }, service));
} catch (error) {
  console.error(`The example ended: ${explain(error)}`);
  process.exit(1);
}

/** The service in this process. */
async function start({ port, host }, options) {
  const { createService } = await import('./service.js');
  const service = await createService({ ...options, log });
  const { server } = service;
  server.listen(port, host);
  await once(server, 'listening');
  for (const signal of ['SIGINT', 'SIGTERM']) {
    // It may come twice, from a terminal and from npm.
    process.on(signal, () => stop(server, service).then(() => process.exit(0)));
  }
  say(`listening on http://${host}:${server.address().port}`);
  say(`${service.pool.maxThreads} threads; at most ${options.queue} tasks wait for one`);
}

/** The service in several processes on one port, which share the cores. */
async function startCluster({ port, host, workers }, options) {
  const { serve } = await import('@millrace/cluster');
  const { OPTIONS } = await import('./process.js');
  const cluster = await serve(new URL('./process.js', import.meta.url), {
    port,
    host,
    ...(workers === undefined ? {} : { workers }),
    // Beside each loop there is to be room for a thread.
    poolThreads: options.threads ?? 1,
    env: { [OPTIONS]: JSON.stringify(options) },
    args: [],
    log,
  });
  say(`listening on http://${host}:${cluster.address.port}`);
  const { processes } = await cluster.health();
  say(`${processes.length} processes`);
}

/** Aborts the running work, which can take minutes. */
async function stop(server, service) {
  const closed = once(server, 'close');
  server.close();
  await service.close();
  // Some answers are still on their way: those that say so.
  setTimeout(() => server.closeAllConnections(), 500);
  await closed;
}

function explain(error) {
  if (error.code === 'EADDRINUSE') return `port ${args.port} is taken; --port 0 takes any.`;
  return error.message;
}
