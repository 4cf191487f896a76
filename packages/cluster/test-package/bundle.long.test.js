import { bundled, testBundles } from '../../../scripts/lib/bundle-test.js';

testBundles('cluster', {
  '.': {
    file: 'cluster',
    given: 'app.mjs',
    works: { texts: ['served', 'from a file'] },
    alone: { texts: ['served'], ...bundled('serve() with a file', '@millrace/cluster') },
  },
});
