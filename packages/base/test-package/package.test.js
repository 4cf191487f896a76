import { install } from '../../../scripts/lib/installed.js';
import { testPackage } from '../../../scripts/lib/package-test.js';

await testPackage('@millrace/base', {
  installation: await install('@millrace/base'),
  effects: ['./context'],
});
