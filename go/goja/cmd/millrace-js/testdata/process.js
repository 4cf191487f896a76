process.env.NUMBER = 1;
process.env.NOTHING = undefined;
const { NUMBER, NOTHING } = process.env;
console.log([NUMBER, NOTHING, 'NUMBER' in process.env, delete process.env.NUMBER]);
console.log(process.env.NUMBER, Object.keys(process.env).includes('NOTHING'));
for (const wrong of ['abc', '', true, 1.5, NaN, 3n, Symbol('s'), {}]) {
  for (const set of [process.exit, (value) => Object.assign(process, { exitCode: value })]) {
    try {
      set(wrong);
      console.log('accepted');
    } catch (error) {
      const text = typeof wrong === 'object' ? '' : error.message;
      console.log(error.name, error.code, text, process.exitCode);
    }
  }
}
for (const right of [null, undefined, 300, -1, '3']) {
  process.exitCode = right;
  console.log(process.exitCode);
}
console.log(/^v\d+\.\d+\.\d+/.test(process.version));
process.exit('7');
