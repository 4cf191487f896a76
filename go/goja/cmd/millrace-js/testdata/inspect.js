const holes = [];
holes[1] = 1;
holes[4] = 2;
console.log('text', 1, -0, 1n, true, null, undefined, Symbol('s'), [1, 'two', [3, [4, [5]]]], {
  a: { b: { c: { d: 1 } } },
});
console.log(
  holes,
  [undefined, null],
  [],
  {},
  new Map([['k', { v: 1 }]]),
  new Set([1, 'x']),
  new Map(),
  new Set(),
);
console.log(
  () => 1,
  function named() {},
  class {},
  class Named {},
  new (class Named {
    x = 1;
    #y = 2;
  })(),
  Object.create(null),
);
console.log({
  'a-b': 1,
  [Symbol('k')]: 2,
  get g() {
    return 1;
  },
  set s(v) {},
  get b() {
    return 1;
  },
  set b(v) {},
  m() {},
});
console.log(
  new Date(0),
  new Date(NaN),
  /r/gi,
  new Uint8Array([1, 2]),
  new Number(1),
  new String('s'),
  new Boolean(false),
);
console.log(
  Promise.resolve(1),
  new Promise(() => {}),
  Promise.reject(2).catch(() => {}) instanceof Promise,
);
console.log("it's", ["it's", 'say "x"', 'both \' and "', 'line\nbreak', '\\']);
const circle = { name: 'circle' };
circle.self = circle;
circle.list = [circle];
console.log(circle);
console.log({
  first: 'a rather long text that fills the line',
  second: 'and another one of that kind',
  third: [1, 2, 3],
});
console.log(
  '%s is %d, %i, %f, %j, %O, %% and %c',
  'text',
  '42',
  4.7,
  '1.5',
  { a: 1 },
  { o: [1] },
  'css',
  'rest',
  { r: 1 },
);
console.log('%s %s', 'one');
console.log('100%', 5);
console.log('%x', 1);
console.log();
console.log('%s', { a: { b: 1 } }, null);
console.log([['nested', ['arrays']], { in: [{ an: { object: 1 } }] }]);
console.log(['\u001b\v\b\x7f\x9f\xa0', '\\u001b \\\\u001b "', "'\0"]);
