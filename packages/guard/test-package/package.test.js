import { install } from '../../../scripts/lib/installed.js';
import { testPackage } from '../../../scripts/lib/package-test.js';

await testPackage('@millrace/guard', {
  installation: await install('@millrace/guard'),
  dependencies: ['async-cache-dedupe'],
});
