/**
 * Compiles the addon for every platform on one machine: zig's C compiler has the headers and stubs of all their C libraries.
 *
 * A shared library links although symbols are missing, and fails only when it is loaded, perhaps on a machine that no developer here has.
 * So each library is checked: its imports must belong to Node-API, libuv or the C library, and to no newer glibc than promised.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { allSources, includes } from '../../packages/millrace/addon/sources.cjs';
import { nodeHeaders } from './addon.js';
import { Failure } from './failure.js';
import { projectCache, root } from './paths.js';
import { writePlatformPackage } from './platform-package.js';
import { pythonPackages } from './python.js';
import { zigEnvironment, zigPackages } from './zig.js';

const addon = join(root, 'packages/millrace/addon');

/** Oldest supported glibc: Node.js 20 itself needs it, and it is the first with statx() and fcntl64(). */
const GLIBC = '2.28';
const MACOS = '11.0';
const processors = { x64: 'x86_64', arm64: 'aarch64' };
const machines = { x64: 'i386:x86-64', arm64: 'arm64' };

/**
 * Functions that the addon takes from Windows itself, by library. zig would compile the whole C library of mingw before its first
 * link, which takes many times as long as the addon; the addon needs its headers and three of its files. An alias is for what
 * compilers call to reserve a large stack frame.
 */
const ofWindows = {
  'kernel32.dll': ['GetModuleHandleExA'],
  'ntdll.dll': ['__chkstk', '___chkstk_ms == __chkstk'],
  'ucrtbase.dll': [
    ...['calloc', 'free', 'malloc', 'memchr', 'memcmp', 'memcpy', 'memmove', 'memset', 'qsort'],
    ...['realloc', 'strcmp', 'strlen', '__stdio_common_vsprintf'],
    ...['ceil', 'exp2', 'floor', 'sqrt'],
  ],
};

/** Of mingw: what makes `snprintf` of the function that Windows has. */
const ofMingw = ['snprintf', 'vsnprintf', '__local_stdio_printf_options'];

/** Returns zig's name of a platform. */
function target(platform) {
  const [os, cpu, libc] = platform.split('-');
  const system = { linux: `linux-${libc}`, darwin: `macos.${MACOS}`, win32: 'windows-gnu' }[os];
  return `${processors[cpu]}-${system}${libc === 'gnu' ? `.${GLIBC}` : ''}`;
}

/** Names of the platforms, by the package built. */
export const platforms = () =>
  createRequire(import.meta.url)(join(root, 'packages/millrace/dist/native/platforms.cjs'))
    .platforms;

/**
 * Returns a step that compiles the addon for a platform and writes its package into `packages/millrace/prebuilds`.
 *
 * @param {string} platform
 * @returns {import('./steps.js').Step}
 */
export const prebuild = (platform) => ({
  title: `addon for ${platform}`,
  run: async (quiet) => {
    const python = await pythonPackages(zigPackages, quiet);
    const headers = await nodeHeaders(quiet);
    const folder = join(projectCache, 'prebuilds', platform);
    mkdirSync(folder, { recursive: true });
    const zig = (args) =>
      quiet('python3', ['-m', 'ziglang', ...args], {
        cwd: addon,
        env: { ...process.env, ...zigEnvironment(python) },
      });
    const known = namesIn(headers);
    const file = join(folder, 'millrace.node');
    const linked = {
      linux: async () => [],
      darwin: async () => ['-Wl,-undefined,dynamic_lookup', '-Wl,-install_name,millrace.node'],
      win32: async () => {
        const machine = machines[platform.split('-')[1]];
        const libraries = [];
        // Windows links by the name of the program, that of Node.js.
        for (const [name, functions] of Object.entries({ 'node.exe': known, ...ofWindows })) {
          const [definitions, library] = ['def', 'lib'].map((kind) =>
            join(folder, `${name}.${kind}`),
          );
          writeFileSync(definitions, [`LIBRARY ${name}`, 'EXPORTS', ...functions, ''].join('\n'));
          await zig(['dlltool', '-d', definitions, '-D', name, '-l', library, '-m', machine]);
          libraries.push(library);
        }
        const libc = join(python, 'ziglang/lib/libc');
        return [
          ...['-nostdlib', '-Wl,--no-entry', '-D__USE_MINGW_ANSI_STDIO=0'],
          ...['-isystem', join(libc, 'include/any-windows-any')],
          ...ofMingw.map((name) => join(libc, `mingw/stdio/ucrt_${name}.c`)),
          ...libraries,
        ];
      },
    };
    const { version } = JSON.parse(readFileSync(join(addon, '../package.json'), 'utf8'));
    const defines = [
      ...['NAPI_VERSION=8', '_GNU_SOURCE', 'UV_BATCH_BUILDING'],
      `MILLRACE_VERSION="${version}"`,
    ];
    await zig([
      ...['cc', '-target', target(platform), '-shared', '-s', '-o', file],
      ...['-std=gnu11', '-O2', '-fvisibility=hidden', '-fPIC'],
      ...defines.map((each) => `-D${each}`),
      ...[headers, ...includes].map((each) => `-I${each}`),
      ...allSources(),
      ...(await linked[platform.split('-')[0]]()),
    ]);
    check(platform, symbolsOf(file, python), known);
    const kilobytes = (statSync(file).size / 1024).toFixed(0);
    return `${kilobytes} KB: ${relative(root, writePlatformPackage(platform, file))}`;
  },
});

/** Returns the functions declared by headers of Node.js: Node-API and libuv. Other names among them are harmless. */
function namesIn(headers) {
  const paths = [
    ...['node_api.h', 'js_native_api.h', 'uv.h'],
    ...readdirSync(join(headers, 'uv')).map((name) => `uv/${name}`),
  ];
  const texts = paths.map((path) => readFileSync(join(headers, path), 'utf8'));
  return new Set(texts.join('\n').match(/\b(?:napi|node_api|uv)_\w+(?=\()/g));
}

/** Returns the imports and exports of a library in any system's format. */
function symbolsOf(file, python) {
  const env = { ...process.env, PYTHONPATH: python };
  const program = join(root, 'scripts/lib/symbols.py');
  return JSON.parse(execFileSync('python3', [program, file], { env, encoding: 'utf8' }));
}

/**
 * @param {string} platform
 * @param {{ asked: { name: string, of: string | null }[], offered: string[] }} symbols
 * @param {Set<string>} known names of Node-API and libuv
 */
export function check(platform, { asked, offered }, known) {
  const missing = asked.filter(
    ({ name, of }) => !known.has(name) && !isOfSystem(platform, name, of),
  );
  if (missing.length > 0) {
    const names = missing.map(({ name, of }) => (of ? `${name} (${of})` : name));
    throw new Failure(`the addon for ${platform} would not load: nobody has ${names.join(', ')}`);
  }
  if (!asked.some(({ name }) => name.startsWith('napi_'))) {
    throw new Failure(`the addon for ${platform} asks for nothing of Node-API`);
  }
  if (!offered.includes('napi_register_module_v1')) {
    throw new Failure(`the addon for ${platform} does not offer napi_register_module_v1`);
  }
}

/** Reports whether the system exports a symbol. musl has no symbol versions: there only our own names are known to be missing. */
function isOfSystem(platform, name, of) {
  if (!platform.startsWith('linux')) return of !== null;
  if (platform.endsWith('musl')) return !/^(uvb_|uv_|millrace_|napi_)/.test(name);
  const version = /^GLIBC_([\d.]+)$/.exec(of ?? '')?.[1];
  return version?.localeCompare(GLIBC, 'en', { numeric: true }) <= 0;
}
