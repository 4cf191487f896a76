import { install } from '../../../scripts/lib/installed.js';
import { testPackage } from '../../../scripts/lib/package-test.js';

await testPackage('@millrace/monitor', {
  installation: await install('@millrace/monitor'),
});
