import { native } from 'millrace';
import { bundled, testBundles } from '../../../scripts/lib/bundle-test.js';

const missing = 'it is bundled, and the package millrace is not installed where it runs';

testBundles('millrace', {
  '.': {
    file: 'index',
    works: { doubled: [2, 4], sizes: [2], seen: ['a', 'b'], native, nativeError: null },
    alone: { doubled: [2, 4], sizes: [2], seen: ['a', 'b'], native: null, nativeError: missing },
  },
  './auto': { file: 'auto', works: { state: 'active', why: null } },
  './dashboard': {
    file: 'dashboard',
    works: { statuses: [200, 200, 200] },
    alone: bundled('the dashboard', 'millrace'),
  },
  './fs': { file: 'fs', works: { text: 'abc', bytes: 'abc', code: 'ENOENT' } },
  './net': { file: 'net', works: { text: '01234', writes: 5 } },
  './observe': { file: 'observe', works: { text: 'string', reads: 2, pid: true } },
  './pg': { file: 'pg', works: { code: 'MILLRACE_E_INVALID_ARGUMENT' } },
  './threads': {
    file: 'threads',
    works: { hasHeader: true, api: 'object' },
    alone: {
      code: 'MILLRACE_E_NATIVE',
      message: `millrace/threads needs millrace's addon, and there is none: ${missing}; npx millrace doctor says what to do`,
    },
  },
  './ws': { file: 'ws', works: { texts: ['by itself', 'published'] } },
  './ws/socket-io': { file: 'ws-socket-io', works: { code: 'MILLRACE_E_INVALID_ARGUMENT' } },
});
