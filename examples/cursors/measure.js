/** Readers in a process of their own, and what the slow one among them has read. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { CursorServer } from './server.js';

/** Time in s in which connections open and windows grow, and which is not counted. */
const warmUp = 3;

export async function measure(args, say) {
  const server = new CursorServer(args);
  const port = await server.listen(0);
  const child = fork(new URL('readers.js', import.meta.url), {
    env: { ...process.env, READERS: JSON.stringify({ ...args, port, warmUp }) },
  });
  child.once('exit', (code) => {
    if (code !== 0) throw new Error(`the process of the readers ended with ${code}`);
  });
  await once(child, 'message');
  server.start();
  await new Promise((resolve) => setTimeout(resolve, warmUp * 1000));
  const from = { cpu: process.cpuUsage(), rss: process.memoryUsage.rss(), at: performance.now() };
  const before = server.conflated.stats();
  child.send('begin');
  let mostBytes = 0;
  const watch = setInterval(() => {
    mostBytes = Math.max(mostBytes, process.memoryUsage.rss());
  }, 100);
  await new Promise((resolve) => setTimeout(resolve, args.seconds * 1000));
  const seconds = (performance.now() - from.at) / 1000;
  const { user, system } = process.cpuUsage(from.cpu);
  const after = server.conflated.stats();
  clearInterval(watch);
  const reported = once(child, 'message');
  child.send('end');
  const [{ slow, fast }] = await reported;
  const perSecond = (name) => Math.round((after[name] - before[name]) / seconds);
  const mebibytes = (bytes) => (bytes / 1024 / 1024).toFixed(0);
  for (const [what, value] of [
    ['moves published', `${perSecond('pushed')}/s`],
    ['superseded in the queue', `${perSecond('superseded')}/s`],
    ['superseded for slow readers', `${perSecond('slowSuperseded')}/s`],
    ['deliveries', `${perSecond('deliveries')}/s`],
    ['readers that keep up', `${args.readers}, ${fast.perSecond} messages/s each`],
    ['slow reader', `${slow.perSecond} messages/s of ${slow.cursors} cursors`],
    ['age of what it reads', `p50 ${slow.p50} ms, p99 ${slow.p99} ms, most ${slow.most} ms`],
    ['age of all it has, at the end', `most ${slow.oldest} ms`],
    ['members closed for being slow', `${after.slowClosed - before.slowClosed}`],
    ['CPU of the server', `${((user + system) / 1e6 / seconds).toFixed(2)} cores`],
    [
      'memory of the server',
      `${mebibytes(from.rss)} MiB at first, ${mebibytes(mostBytes)} at most`,
    ],
  ]) {
    say(`${what.padEnd(32)}${value}`);
  }
  await server.close();
  return { slow, fast, mostBytes };
}
