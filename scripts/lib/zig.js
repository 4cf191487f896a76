/** zig's C compiler, from PyPI: with the headers and libraries of every platform, for which it compiles and links on any. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectCache } from './paths.js';
import { pythonPackages } from './python.js';

/** `lief` reads the libraries that zig makes. */
export const zigPackages = ['ziglang==0.17.1', 'lief==1.0.0'];

const cache = join(projectCache, 'zig');

/** Environment of `python3 -m ziglang`, where `python` is the folder of its packages. */
export const zigEnvironment = (python) => ({
  PYTHONPATH: python,
  ZIG_GLOBAL_CACHE_DIR: cache,
  ZIG_LOCAL_CACHE_DIR: cache,
});

/**
 * Writes programs by which CMake compiles for a target.
 *
 * @param {string} target zig's name, such as `aarch64-linux-musl`
 * @param {import('./steps.js').Quiet} quiet
 * @returns {Promise<string[]>} arguments of CMake
 */
export async function cmakeFor(target, quiet) {
  const python = await pythonPackages(zigPackages, quiet);
  const folder = join(projectCache, 'zig-tools', target);
  mkdirSync(folder, { recursive: true });
  const settings = Object.entries(zigEnvironment(python)).map(
    ([name, value]) => `${name}='${value}'`,
  );
  const program = (name, command) => {
    const path = join(folder, name);
    const line = `exec env ${settings.join(' ')} python3 -m ziglang ${command} "$@"`;
    writeFileSync(path, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    return path;
  };
  return [
    // zig would add a sanitizer to what is not optimized.
    `-DCMAKE_C_COMPILER=${program('cc', `cc -target ${target} -fno-sanitize=undefined`)}`,
    `-DCMAKE_AR=${program('ar', 'ar')}`,
    `-DCMAKE_RANLIB=${program('ranlib', 'ranlib')}`,
    // As a cross compilation, which does not look into the folders of this machine.
    '-DCMAKE_SYSTEM_NAME=Linux',
    `-DCMAKE_SYSTEM_PROCESSOR=${target.split('-')[0]}`,
    '-DCMAKE_EXE_LINKER_FLAGS=-static',
  ];
}
