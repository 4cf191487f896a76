/** Builds the addon with node-gyp: as npm names it to the programs that it starts, as it is on the PATH, or as npm has it. */
const { spawnSync } = require('node:child_process');
const { existsSync, realpathSync } = require('node:fs');
const { delimiter, dirname, join } = require('node:path');

/**
 * What node-gyp needs in its environment. Where Node.js is installed with its headers, they need not be downloaded; a
 * compiler for C is enough, though node-gyp would link with one for C++.
 */
function environment() {
  const { npm_config_nodedir: chosen, ...rest } = process.env;
  const { LINK, CC } = rest;
  const beside = join(dirname(realpathSync(process.execPath)), '..');
  const nodedir = chosen || (existsSync(join(beside, 'include/node/node_api.h')) ? beside : '');
  return {
    ...rest,
    ...(nodedir && { npm_config_nodedir: nodedir }),
    ...(process.platform !== 'win32' && { LINK: LINK || CC || 'cc' }),
  };
}

/**
 * @param {string} folder of `binding.gyp`; the addon is in its `build/Release`
 * @param {number} seconds after which the build is given up
 * @returns {string | null} why there is no addon, in a few words; null when it is built
 */
function build(folder, seconds) {
  const missing = missingTool();
  if (missing) return `${missing} is missing`;
  const [command, ...first] = nodeGyp();
  const { status, error, stdout, stderr } = spawnSync(
    command,
    [...first, 'configure', 'build', '--jobs', 'max'],
    {
      cwd: folder,
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
      timeout: seconds * 1000,
      maxBuffer: 64 * 1024 * 1024,
      shell: process.platform === 'win32' && first.length === 0,
    },
  );
  if (status === 0) return null;
  if (error?.code === 'ENOENT') return 'node-gyp is missing';
  if (error?.code === 'ETIMEDOUT') return `node-gyp was stopped after ${seconds} s`;
  return reason(`${stdout}\n${stderr}`);
}

function nodeGyp() {
  const { npm_config_node_gyp: named, PATH = '' } = process.env;
  if (named) return [process.execPath, named];
  const program = process.platform === 'win32' ? 'node-gyp.cmd' : 'node-gyp';
  if (PATH.split(delimiter).some((folder) => existsSync(join(folder, program)))) return [program];
  const beside = dirname(realpathSync(process.execPath));
  const ofNpm = ['../lib/node_modules', 'node_modules']
    .map((folder) => join(beside, folder, 'npm/node_modules/node-gyp/bin/node-gyp.js'))
    .find(existsSync);
  return ofNpm === undefined ? [program] : [process.execPath, ofNpm];
}

/** The name of a tool that node-gyp would fail without; on Windows it looks for them in its own way. */
function missingTool() {
  if (process.platform === 'win32') return undefined;
  const { npm_config_python, NODE_GYP_FORCE_PYTHON, PYTHON, CC, MAKE } = process.env;
  const python = npm_config_python || NODE_GYP_FORCE_PYTHON || PYTHON;
  const tools = {
    'Python 3': python ? [python] : ['python3', 'python'],
    make: [MAKE || 'make', 'gmake'],
    'a C compiler': [CC?.split(' ')[0] || 'cc'],
  };
  return Object.keys(tools).find((name) => !tools[name].some(runs));
}

const runs = (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

/** What tells the most of node-gyp's output: the compiler's line, or that of make, or its own. */
const telling = [/\berror: .+/, /(?<=^make.*: )(?!Entering|Leaving).+/m, /\bError: .+/];

function reason(output) {
  if (output.includes('related to network connectivity')) {
    return 'the headers of Node.js could not be downloaded';
  }
  const found = telling.map((pattern) => pattern.exec(output)?.[0]).find(Boolean);
  return found?.trim() ?? 'node-gyp failed';
}

module.exports = { build, environment };
