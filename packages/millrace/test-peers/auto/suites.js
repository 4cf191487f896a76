/**
 * Suites of other people's tests: where they come from, how they run, and how many tests they have. A suite is a line of the output, a
 * group is a row of the table in `docs/reference/auto.md`. Suites of a group run in `GROUP.test.js`.
 *
 * @typedef {object} Suite
 * @property {string} name
 * @property {string} version
 * @property {string} [package] its folder in node_modules, if that is not its name
 * @property {{ path: string, sha256: string, take?: string }} [debian] where its tests come from, if the package comes without them
 * @property {string} [checkout] a folder in that named by SUITES, in place of a package; without SUITES the suite is left out
 * @property {keyof import('./lib/runners.js').runners} [runner] default node:test
 * @property {'import' | 'require'} [by] the option that preloads auto, default import
 * @property {string[]} [flags] of Node.js
 * @property {string[]} [args] of the runner
 * @property {string} [folder] of the tests, default test
 * @property {RegExp} files paths in it
 * @property {number} tests that run on plain Node.js, whether they pass there or not
 * @property {string[]} [active] features that have to act in the arm `auto`
 * @property {boolean} [alone] one file at a time: they use the same ports or files
 * @property {number} [seconds] after which a file is ended, default 60
 * @property {Record<string, string>} [differs] files whose tests end otherwise under auto, and why that is meant to be
 */

/** Debian 13 has these sources. */
const ofDebian = {
  express: {
    path: 'pool/main/n/node-express/node-express_4.18.2+~4.17.14.orig.tar.gz',
    sha256: 'a9ace1a92a2b0a7e3fcd7a7612553d6208a464561c15ad38f349fc3ab0d7cda0',
  },
  fsExtra: {
    path: 'pool/main/n/node-fs-extra/node-fs-extra_10.1.0+~9.0.13.orig.tar.gz',
    sha256: '1216bcebf696c9e1245fce9149f03f14b1828aee5b8af92b474381a41d0cbf0b',
    take: 'lib',
  },
  gracefulFs: {
    path: 'pool/main/n/node-graceful-fs/node-graceful-fs_4.2.10.orig.tar.gz',
    sha256: '71ba4cce6ed89ac18b91ca99649c4b0ab43b7538607a9fbdb562e565d6427665',
  },
  mqtt: {
    path: 'pool/main/n/node-mqtt/node-mqtt_4.3.7.orig.tar.gz',
    sha256: '8ed202ed374f7e468b81bf07e9f506c95ec90586fe5526ea760215461a3b7ad3',
  },
  node: {
    path: 'pool/main/n/nodejs/nodejs_20.19.2+dfsg.orig.tar.xz',
    sha256: '5e5559381ad031d245a8efa403458abbb73755f74c3e6380f185a4dd342b7949',
  },
  ws: {
    path: 'pool/main/n/node-ws/node-ws_8.18.1+~cs14.18.2.orig.tar.gz',
    sha256: 'f80308e18245a666ebfe76c8ce6180485ea608f182af2dfb2c08773b591c7bcb',
  },
};

const ofNode = {
  version: '20.19.2',
  debian: ofDebian.node,
  runner: 'program',
  folder: 'test/parallel',
  // With --import a program begins later, and may miss messages of its parent.
  by: 'require',
};
const handles = 'replaces the descriptor of FileHandle, by which Node.js reads and auto does not';
const ofMocha = { runner: 'mocha', args: ['--check-leaks'] };
const ofExpress = { runner: 'mocha', args: ['--check-leaks', '--require', 'test/support/env'] };

/** @type {Record<string, Suite[]>} */
export const groups = {
  fastify: [
    {
      name: 'fastify',
      version: '5.12.8',
      // Those that need sockets.
      files: new RegExp(
        `^(${[
          '404s|500s|async.*|client-timeout|close.*|custom-http-server|header-overflow|hooks.*|listen.*',
          'max-requests.*|reply-(early|error|trailers).*|request-error|server|stream.*|upgrade|web-api',
          '(diagnostics-channel|http2|https|logger)[/\\\\].*',
        ].join('|')})\\.test\\.js$`,
      ),
      tests: 701,
    },
  ],
  /** Plugins of fastify: proxies, uploads, files, templates, WebSockets. */
  plugins: [
    {
      name: '@fastify/http-proxy',
      version: '11.6.3',
      files: /^(?!ws-reconnect)[^/\\]+\.js$/,
      tests: 112,
      active: ['ws'],
    },
    {
      name: '@fastify/multipart',
      version: '10.1.9',
      // Those that are left out upload a GB, or wait 14 s.
      files: /^(?!big|generate-id|.*incomplete)[^/\\]+\.test\.js$/,
      tests: 114,
    },
    {
      name: '@fastify/reply-from',
      version: '12.6.5',
      // One of an action each; those that are left out are of the same kind, wait for timeouts, or have sockets beside them, whose path may be
      // too long here.
      files: /^(full-(delete|get|https|post).*|http[^2].*|http2-https|multipart.*)\.test\.js$/,
      tests: 25,
    },
    { name: '@fastify/send', version: '4.2.1', files: /\.test\.js$/, tests: 213 },
    { name: '@fastify/static', version: '10.1.11', files: /^[^/\\]+\.test\.js$/, tests: 390 },
    {
      name: '@fastify/view',
      version: '12.0.0',
      files: /^(ejs|handlebars|index|liquid|mustache).*\.test\.js$/,
      tests: 161,
      active: ['fs'],
    },
    {
      name: '@fastify/websocket',
      version: '11.3.6',
      files: /\.test\.js$/,
      tests: 66,
      active: ['ws'],
    },
  ],
  /** WebSockets, and protocols over them. */
  sockets: [
    {
      ...ofMocha,
      name: 'ws',
      version: '8.18.1',
      package: 'ws-8',
      debian: ofDebian.ws,
      files: /^[^/]+\.test\.js$/,
      tests: 428,
      active: ['ws'],
    },
    {
      ...ofMocha,
      name: 'ws',
      version: '7.5.10',
      checkout: 'ws-7.5.10',
      files: /^[^/]+\.test\.js$/,
      tests: 349,
    },
    {
      ...ofMocha,
      name: 'ws',
      version: '6.2.3',
      checkout: 'ws-6.2.3',
      files: /^[^/]+\.test\.js$/,
      tests: 265,
    },
    {
      ...ofMocha,
      name: 'engine.io',
      version: '6.6.5',
      checkout: 'engine.io-6.6.5',
      files: /^(engine\.io|middlewares|parser|server)\.js$/,
      tests: 176,
      active: ['ws'],
      alone: true,
      seconds: 300,
    },
    {
      runner: 'mocha',
      flags: ['--import=tsx'],
      // A program that it starts ends in .ts, which Node.js 20 refuses with --import of any module.
      by: 'require',
      name: 'socket.io',
      version: '4.8.3',
      checkout: 'socket.io-4.8.3',
      files: /^index\.ts$/,
      tests: 191,
      active: ['ws'],
      seconds: 300,
    },
    {
      ...ofMocha,
      name: 'MQTT.js',
      version: '4.3.7',
      package: 'mqtt-4',
      debian: ofDebian.mqtt,
      files:
        /^(client|client_mqtt5|mqtt_store|secure_client|store|util|.*_client|message-id-provider)\.js$/,
      tests: 781,
      alone: true,
      seconds: 300,
    },
    {
      name: 'aedes',
      version: '1.2.0',
      files: /^(?!drain|helper)[^/\\]+\.c?js$/,
      tests: 365,
      active: ['ws'],
    },
  ],
  /** Readers, writers and servers of files; HTTP. */
  files: [
    {
      ...ofExpress,
      name: 'express',
      version: '4.18.2',
      debian: ofDebian.express,
      files: /^[^/]+\.js$/,
      tests: 1156,
    },
    {
      ...ofExpress,
      name: 'express',
      version: '5.2.1',
      checkout: 'express-5.2.1',
      files: /^[^/]+\.js$/,
      tests: 1130,
    },
    {
      name: 'undici',
      version: '7.29.0',
      checkout: 'undici-7.29.0',
      // The others are doubles of connections, and single functions.
      files: new RegExp(
        `^(${[
          'client.*|close-.*|connect-.*|http.*|https|inflight-.*|max-.*|pipeline-.*|pool.*|promises|proxy.*|redirect-.*',
          'request.*|retry-.*|round-.*|socket-.*|stream-.*|tls.*|trailers|upgrade-.*',
          '(eventsource|websocket)[/\\\\].*',
        ].join('|')})\\.js$`,
      ),
      tests: 947,
      active: ['ws'],
      seconds: 180,
    },
    {
      ...ofMocha,
      name: 'send',
      version: '1.2.1',
      checkout: 'send-1.2.1',
      files: /^send\.js$/,
      tests: 139,
    },
    {
      name: 'sirv',
      version: '3.0.1',
      checkout: 'sirv-3.0.1',
      runner: 'uvu',
      folder: 'tests',
      files: /^sirv\.mjs$/,
      tests: 75,
    },
    {
      ...ofMocha,
      name: 'fs-extra',
      version: '10.1.0',
      debian: ofDebian.fsExtra,
      folder: 'lib',
      files: /\.test\.js$/,
      tests: 698,
    },
    {
      name: 'graceful-fs',
      version: '4.2.10',
      debian: ofDebian.gracefulFs,
      runner: 'tap',
      alone: true,
      files: /^[^/]+\.js$/,
      tests: 63,
    },
    { name: 'pino-roll', version: '4.0.0', files: /\.test\.js$/, tests: 60 },
    // One that is left out writes for a minute.
    { name: 'sonic-boom', version: '5.0.2', files: /^(?!write).*\.test\.js$/, tests: 132 },
    { name: 'st', version: '4.0.13', files: /^[^/\\]+-test\.js$/, tests: 116, active: ['reads'] },
    {
      name: 'thread-stream',
      version: '4.2.1',
      // One of its tests fails on Node.js 20 with --import of any module.
      by: 'require',
      // Those that are left out compile TypeScript, or write strings of 512 MB.
      files: /^(?!esm|string-limit|transpiled|ts-)[^/\\]+\.test\.m?js$/,
      tests: 55,
    },
  ],
  node: [
    {
      ...ofNode,
      name: 'Node.js, fs',
      files: /^test-(fs|file|filehandle)\b.*js$/,
      tests: 246,
      active: ['fs'],
      differs: {
        'test-filehandle-close.js':
          'closes a descriptor twice: if 0.1 s have passed, the file of a feature that is loaded then may get its number between',
        'test-fs-promises-file-handle-aggregate-errors.js': handles,
        'test-fs-promises-file-handle-close-errors.js': handles,
        'test-fs-promises-file-handle-op-errors.js': handles,
        'test-fs-promises-readfile.js':
          'counts the calls of a function beneath fs.promises, while Node.js reads modules of auto by it',
      },
    },
    { ...ofNode, name: 'Node.js, net', files: /^test-net\b.*js$/, tests: 146 },
    { ...ofNode, name: 'Node.js, http', files: /^test-https?\b.*js$/, tests: 433 },
    {
      ...ofNode,
      name: 'Node.js, dns',
      files: /^test-(c-ares|dns)\b.*js$/,
      tests: 27,
      active: ['dns'],
    },
  ],
};
