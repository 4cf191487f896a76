import vm from 'node:vm';

export default function fail() {
  vm.runInNewContext(`throw Object.assign(new RangeError('too far'), { code: 'E_FAR' })`);
}
