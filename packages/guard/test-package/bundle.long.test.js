import { testBundles } from '../../../scripts/lib/bundle-test.js';

testBundles('guard', {
  '.': { file: 'guard', works: { text: 'guarded', admitted: 1 } },
  './cached': {
    file: 'cached',
    works: { settings: 'MILLRACE_E_INVALID_OPTION', texts: ['run 1', 'run 1'] },
  },
  './requests': { file: 'requests', works: { routes: ['GET /users/:id'] } },
});
