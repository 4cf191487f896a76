import { bundled, testBundles } from '../../../scripts/lib/bundle-test.js';

testBundles('monitor', {
  '.': { file: 'monitor', works: { measured: true } },
  './metrics': {
    file: 'metrics',
    works: { name: 'enlarged_connections_total', value: 2, type: 'function' },
  },
  './stalls': {
    file: 'stalls',
    works: { blocked: 'blockUntil' },
    alone: bundled('stalls()', '@millrace/monitor'),
  },
});
