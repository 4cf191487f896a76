/**
 * Runs programs for arm64 on another processor: the kernel hands each to qemu, their children too, once qemu is registered with
 * it. That takes root, and stays until the machine is started anew or `release` is called.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { debian13 } from './debian13.js';
import { Skip } from './steps.js';

const folder = '/proc/sys/fs/binfmt_misc';
const name = 'millrace-arm64';
/** True once this process has registered qemu. */
let isOurs = false;
/** Registrations of Debian's own packages. */
const usual = ['qemu-aarch64', 'qemu-aarch64-static'];

/** The beginning of an ELF file for arm64, and its bits that count, as the kernel reads them. */
const magic = '\\x7fELF\\x02\\x01\\x01' + '\\x00'.repeat(9) + '\\x02\\x00\\xb7\\x00';
const mask = '\\xff'.repeat(7) + '\\x00' + '\\xff'.repeat(8) + '\\xfe\\xff\\xff\\xff';

/**
 * Makes programs for arm64 run here.
 *
 * @param {import('./steps.js').Quiet} quiet
 * @throws {Skip} if they cannot
 */
export async function emulateArm64(quiet) {
  if (process.platform !== 'linux') throw new Skip('needs Linux');
  if (process.arch === 'arm64') return;
  if (!existsSync(join(folder, 'register'))) {
    await quiet('mount', ['-t', 'binfmt_misc', 'none', folder]).catch(() => {
      throw new Skip('needs root and binfmt_misc, or qemu-user-static with its registration');
    });
  }
  if ([name, ...usual].some((each) => existsSync(join(folder, each)))) return;
  const qemu = join(await debian13('qemu-user', quiet), 'usr/bin/qemu-aarch64');
  try {
    // F: the kernel opens qemu now, so that it is found by programs in other roots.
    writeFileSync(join(folder, 'register'), `:${name}:M::${magic}:${mask}:${qemu}:F`);
    isOurs = true;
  } catch ({ message }) {
    throw new Skip(`the kernel did not take qemu: ${message}`);
  }
}

/** Takes back the registration, if {@link emulateArm64} made one. */
export function release() {
  const own = join(folder, name);
  if (isOurs && existsSync(own)) writeFileSync(own, '-1');
}
