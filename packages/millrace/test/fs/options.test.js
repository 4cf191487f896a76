/** Every option, right and wrong: as with node:fs/promises. */
import { constants, writeFileSync } from 'node:fs';
import { same } from './same.js';

const arrange = (folder) => writeFileSync(`${folder}/file`, 'content');

class Inherited {
  get encoding() {
    return 'hex';
  }
}

const throwing = {
  get encoding() {
    throw new RangeError('not today');
  },
};

const options = {
  'no options': () => undefined,
  null: () => null,
  'an empty object': () => ({}),
  'frozen options': () => Object.freeze({ encoding: 'utf8', flush: false }),
  'options without a prototype': () => Object.assign(Object.create(null), { encoding: 'utf8' }),
  'options of a class': () => new Inherited(),
  'options that inherit': () => Object.create({ encoding: 'hex', mode: 0o600 }),
  'a getter that throws': () => throwing,
  'an option that nobody knows': () => ({ encoding: 'utf8', unknown: 1 }),
  'a function': () => () => {},
  'a number': () => 5,
  true: () => true,
  'a symbol': () => Symbol('options'),
  'an array': () => ['utf8'],
  'a bad encoding': () => 'klingon',
  'a bad encoding in options': () => ({ encoding: 'klingon' }),
  'an encoding that is a number': () => ({ encoding: 5 }),
  'an encoding of false': () => ({ encoding: false }),
  'an encoding that is an object': () => ({ encoding: {} }),
  'mode 0600': () => ({ mode: 0o600 }),
  'mode 0000': () => ({ mode: 0 }),
  'mode 7777': () => ({ mode: 0o7777 }),
  'mode as text': () => ({ mode: '640' }),
  'mode null': () => ({ mode: null }),
  'a mode that is none': () => ({ mode: 'rw' }),
  'a mode that is negative': () => ({ mode: -1 }),
  'a mode that is a fraction': () => ({ mode: 1.5 }),
  'a mode beyond 32 bits': () => ({ mode: 2 ** 32 }),
  'a mode of NaN': () => ({ mode: Number.NaN }),
  'flush true': () => ({ flush: true }),
  'flush false': () => ({ flush: false }),
  'flush null': () => ({ flush: null }),
  'a flush that is none': () => ({ flush: 'yes' }),
  'signal null': () => ({ signal: null }),
  'signal undefined': () => ({ signal: undefined }),
  'a signal that is none': () => ({ signal: {} }),
  'a signal that is a text': () => ({ signal: 'stop' }),
  'a signal lookalike': () => ({ signal: { aborted: false } }),
  'an aborted lookalike': () => ({ signal: { aborted: true, reason: 'because' } }),
  'a buffer to read into': () => ({ buffer: Buffer.alloc(100) }),
  'a buffer that is none': () => ({ buffer: 'none' }),
};
const flags = ['r', 'r+', 'rs', 'rs+', 'w', 'wx', 'w+', 'wx+', 'a', 'ax', 'a+', 'as', 'as+', 'ax+'];
for (const flag of [...flags, 'sa', 'xa', '', 'q', null, 0, constants.O_RDONLY, -1, 1.5, {}]) {
  options[`flag ${JSON.stringify(flag)}`] = () => ({ flag });
}
options['flags as a number'] = () => ({
  flag: constants.O_CREAT | constants.O_RDWR | constants.O_APPEND,
});

for (const [title, make] of Object.entries(options)) {
  for (const name of ['file', 'new']) {
    const what = `${name === 'new' ? 'a new' : 'a'} file with ${title}`;
    const at = (folder) => `${folder}/${name}`;
    same(`readFile of ${what}`, (fs, folder) => fs.readFile(at(folder), make()), { arrange });
    same(`writeFile to ${what}`, (fs, folder) => fs.writeFile(at(folder), 'cafe', make()), {
      arrange,
    });
    same(`appendFile to ${what}`, (fs, folder) => fs.appendFile(at(folder), 'cafe', make()), {
      arrange,
    });
  }
}

for (const name of ['readFile', 'writeFile', 'appendFile']) {
  same(`name and length of ${name}`, (fs) => [fs[name].name, fs[name].length]);
}
