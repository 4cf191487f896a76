/** Older names of assertions, which tests of tap 12 use. `tap` is its core here, libtap, without the command and what that brings. */
const { prototype } = require('tap').Test;

for (const [older, name] of [
  ['done', 'end'],
  ['isa', 'type'],
  ['notEqual', 'not'],
]) {
  prototype[older] = prototype[name];
}
