import { node } from '../../../scripts/lib/installed.js';

/** What a program that uses an installed package finds. */
export async function use(folder, env) {
  const program = `
    import { BatchEmitter, batch, native, nativeError } from 'millrace';
    import { limits } from '@millrace/monitor';
    limits();
    const double = batch(async (items) => items.map((item) => item * 2));
    const emitter = new BatchEmitter();
    const seen = [];
    emitter.on('event', (value) => seen.push(value));
    emitter.emit('event', 1);
    emitter.emit('event', 2);
    const doubled = await Promise.all([double(1), double(2)]);
    emitter.close();
    console.log(JSON.stringify({ native, nativeError, doubled, seen }));
  `;
  const args = ['--input-type=module', '-e', program];
  const { stdout, stderr } = await node(args, { cwd: folder, env });
  return { ...JSON.parse(stdout), stderr };
}

/** What `use()` finds where everything works. */
export const works = { doubled: [2, 4], seen: [1, 2], stderr: '' };

/** Returns the finding of `millrace doctor` about the addon of an installed package. */
export async function addonByDoctor(folder, env) {
  const program = 'node_modules/millrace/bin/millrace.js';
  const { stdout } = await node([program, 'doctor', '--json'], { cwd: folder, env });
  return JSON.parse(stdout).findings.find(({ name }) => name === 'addon');
}
