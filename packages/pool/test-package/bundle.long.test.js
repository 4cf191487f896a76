import { version } from '@millrace/pool';
import { bundled, testBundles } from '../../../scripts/lib/bundle-test.js';

testBundles('pool', {
  '.': {
    file: 'pool',
    works: { version, results: [2, 4, 6], failure: ['RangeError', 'negative', 'E_NEGATIVE'] },
    alone: bundled('a pool', '@millrace/pool'),
  },
});
