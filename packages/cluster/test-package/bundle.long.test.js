import { bundled, testBundles } from '../../../scripts/lib/bundle-test.js';

testBundles('cluster', {
  './r-load-balancer': {
    file: 'r-load-balancer',
    works: { measured: true, results: [2, 4] },
    alone: bundled('a pool', '@millrace/pool'),
  },
  '.': {
    file: 'cluster',
    given: 'app.mjs',
    works: { texts: ['served', 'from a file'] },
    alone: { texts: ['served'], ...bundled('serve() with a file', '@millrace/cluster') },
  },
});
