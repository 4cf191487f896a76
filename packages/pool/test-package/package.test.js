import { install } from '../../../scripts/lib/installed.js';
import { testPackage } from '../../../scripts/lib/package-test.js';

await testPackage('@millrace/pool', {
  installation: await install('@millrace/pool'),
});
