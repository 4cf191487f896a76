/** A process that does something with files in a folder, and ends: `node child.js WHAT FOLDER`. */
import { closeSync, mkdirSync, openSync, readFileSync, rmdirSync } from 'node:fs';
import promises from 'node:fs/promises';
import { appendFile, readFile, writeFile } from 'millrace/fs';

const [what, path] = process.argv.slice(2);
const file = `${path}/file`;

const acts = {
  ends() {
    writeFile(file, 'written ');
    for (let index = 0; index < 10; index++) appendFile(file, `${index},`);
    setImmediate(() => appendFile(file, 'durable', { durable: true }));
  },

  beforeExit() {
    process.once('beforeExit', () => appendFile(file, 'last words'));
  },

  exit() {
    appendFile(file, 'never');
    process.exit();
  },

  rejections() {
    let unhandled = 0;
    process.on('unhandledRejection', () => unhandled++);
    const calls = () => [
      readFile(file),
      readFile(file, 'HEX'),
      writeFile(`${path}/none/file`, 'x'),
      appendFile(`${path}/none/file`, 'x'),
      appendFile(`${path}/none/file`, ['x']),
      appendFile(file, 'x', { durable: 'no' }),
    ];
    calls();
    process.once('beforeExit', async () => {
      console.log(`unhandled ${unhandled}`);
      const outcomes = await Promise.allSettled(calls());
      console.log(`handled ${outcomes.filter(({ reason }) => reason !== undefined).length}`);
      if (unhandled !== 6) console.log(`unhandled in the end ${unhandled}`);
    });
  },

  async 'no folder'() {
    mkdirSync(`${path}/gone`);
    process.chdir(`${path}/gone`);
    rmdirSync(`${path}/gone`);
    const calls = [readFile('file'), appendFile('file', 'x'), writeFile('./file', 'x')];
    const outcomes = await Promise.allSettled(calls);
    await Promise.all([writeFile(file, 'kept'), readFile(file)]);
    const messages = outcomes.map(({ reason }) => reason?.message);
    console.log(JSON.stringify([...messages, readFileSync(file, 'utf8')]));
  },

  async descriptors() {
    const names = Array.from({ length: 300 }, (_, index) => `${path}/${index}`);
    const count = (outcomes) => {
      const counts = {};
      for (const [index, { value, reason }] of outcomes.entries()) {
        const right = value === `file ${index}` ? 'right' : 'wrong';
        const key = reason === undefined ? right : `${reason.code} ${reason.syscall}`;
        counts[key] = (counts[key] ?? 0) + 1;
      }
      return counts;
    };
    const calls = () => names.map((name) => readFile(name, 'utf8'));
    // What the addon or a stream opens once for all is open before.
    await Promise.all([readFile(names[0]), appendFile(`${path}/log`, '')]);
    const held = [];
    for (;;) {
      try {
        held.push(openSync('/dev/null'));
      } catch {
        break;
      }
    }
    const during = count(await Promise.allSettled([...calls(), appendFile(`${path}/log`, 'x')]));
    for (const fd of held) closeSync(fd);
    const afterwards = count(await Promise.allSettled(calls()));
    await appendFile(`${path}/log`, 'written');
    const appended = readFileSync(`${path}/log`, 'utf8');
    console.log(JSON.stringify({ during, afterwards, appended }));
  },

  async 'no right'() {
    // Root may do everything, so this process becomes nobody: only now, as nobody may not start a Node.js in root's home folder.
    if (process.getuid() === 0) process.setuid(65534);
    const messages = [promises, { readFile, appendFile, writeFile }].map(async (fs) => {
      const calls = [fs.readFile(file), fs.appendFile(file, 'x'), fs.writeFile(file, 'x')];
      return (await Promise.allSettled(calls)).map(({ reason }) => reason?.message);
    });
    console.log(JSON.stringify(await Promise.all(messages)));
  },

  async permission() {
    const calls = [readFile(file, 'utf8'), appendFile(file, 'x'), writeFile(file, 'x')];
    const outcomes = await Promise.allSettled(calls);
    console.log(JSON.stringify(outcomes.map(({ value, reason }) => value ?? reason?.code)));
  },
};

acts[what]();
