import { install } from '../../../scripts/lib/installed.js';
import { testPackage } from '../../../scripts/lib/package-test.js';

await testPackage('@millrace/cluster', {
  installation: await install('@millrace/cluster'),
});
