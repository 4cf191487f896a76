/**
 * Builds the image of an example, once, and runs it in a container, both without a daemon: for experiments. It has to be root, and
 * wants buildah and crun.
 *
 *     node deploy/container/start.js examples/compute main.js --threads 2
 *
 * What it prints is what the application prints; at SIGTERM the application ends, and then this. The image is kept in the cache of
 * the repository, by what it was made of.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { imageOf } from './image.js';
import { container } from './run.js';

const [app, main, ...args] = process.argv.slice(2);
const image = await imageOf({ app, main });
const { HOST = '127.0.0.1', PORT = '0', CPUS = '2' } = process.env;
const prepared = await container({
  ...image,
  args,
  env: { HOST, PORT },
  cpus: Number(CPUS),
});
const [program, ...words] = prepared.command;
const child = spawn(program, words, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.once('exit', async (code, signal) => {
  await prepared.remove();
  process.exit(code ?? 128 + constants.signals[signal]);
});
