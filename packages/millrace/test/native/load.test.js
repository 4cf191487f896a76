/** Injected: addons that are missing, cut short, of another format, processor or package, and settings out of range. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { platforms, thisPlatform } from '../../dist/native/platforms.cjs';
import { addon, binaryOf, copyOf, packagedOf, run } from './copy.js';

const skip = !existsSync(addon) && 'the addon is not built';
const linux = process.platform === 'linux';
const whole = skip ? Buffer.alloc(0) : readFileSync(addon);
/** One that needs a C library which is not here. The names are equally long. */
const foreign = Buffer.from(
  whole.toString('latin1').replaceAll(/libc\.(so|mu)/g, 'libc.no'),
  'latin1',
);
const { version } = createRequire(import.meta.url)('../../package.json');

/** The copy runs in JavaScript, says why in one short line, and is refused where the addon has to be there. */
async function assertJavaScript(folder, why) {
  const { native, nativeError } = await run(folder);
  assert.equal(native, null);
  assert.match(nativeError, why);
  assert.doesNotMatch(nativeError, /\n/);
  const { code, message } = await run(folder, { setting: '1' });
  assert.equal(code, 'MILLRACE_E_NATIVE');
  assert.ok(message.startsWith(`MILLRACE_NATIVE is 1, but there is no addon: ${nativeError}; `));
}

test('the addon is used where it is', { skip }, async (t) => {
  for (const setting of [undefined, '', '1']) {
    const { native, nativeError } = await run(copyOf(t), { setting });
    assert.match(native.version, /^\d+\.\d+\.\d+$/);
    assert.equal(nativeError, null);
  }
});

test('MILLRACE_NATIVE=0 leaves it alone', async (t) => {
  const folder = copyOf(t, { addon: 'it would not even load' });
  assert.deepEqual(await run(folder, { setting: '0' }), {
    native: null,
    nativeError: 'MILLRACE_NATIVE is 0',
  });
});

test('another value of MILLRACE_NATIVE is refused', async (t) => {
  const folder = copyOf(t, { addon: null });
  for (const setting of ['2', ' ', 'false']) {
    const { name, code, message } = await run(folder, { setting });
    assert.equal(name, 'MillraceError');
    assert.equal(code, 'MILLRACE_E_INVALID_OPTION');
    assert.equal(
      message,
      `the environment: 'MILLRACE_NATIVE' is ${JSON.stringify(setting)}; it must be 0, 1, or not set`,
    );
  }
});

const own = thisPlatform();
const absent = `the package @millrace/${own} is not installed where it runs`;

test('no addon', async (t) => {
  await assertJavaScript(copyOf(t, { addon: null }), new RegExp(`^${absent}$`));
  const others = platforms.filter((each) => !each.startsWith(`${process.platform}-`));
  const packages = Object.fromEntries(others.map((each) => [each, whole]));
  await assertJavaScript(copyOf(t, { addon: null, packages }), new RegExp(`^${absent}$`));
});

test('a platform without a package', async (t) => {
  const program = `
    Object.defineProperty(process, 'arch', { value: 'riscv64' });
    import('millrace').then(({ native, nativeError }) => console.log(JSON.stringify({ native, nativeError })));
  `;
  const packages = skip ? {} : { [own]: whole };
  const { native, nativeError } = await run(copyOf(t, { addon: null, packages }), { program });
  assert.equal(native, null);
  const name = own.replace(process.arch, 'riscv64');
  assert.equal(nativeError, `there is no package with an addon for ${name}`);
});

describe("the addon of a platform's package", { skip }, () => {
  const musl = own.replace(/gnu$/, 'musl');

  /** The package that this copy of the addon is loaded from, as the system tells it; `Release` for one that was compiled. */
  const program = `
    import('millrace').then(({ native, nativeError }) => {
      const { sharedObjects } = process.report.getReport();
      const used = sharedObjects.map((path) => path.replaceAll('\\\\', '/')).filter((path) => path.endsWith('/millrace.node'));
      const names = used.map((path) => path.split('/').at(-2));
      console.log(JSON.stringify({ native: native !== null, nativeError, names }));
    });
  `;
  const used = (names) => ({ native: true, nativeError: null, names });

  test('is used where none was compiled', async (t) => {
    const folder = copyOf(t, { addon: null, packages: { [own]: whole } });
    assert.deepEqual(await run(folder, { program, setting: '1' }), used([own]));
  });

  test('is used in place of a compiled one that does not load', async (t) => {
    const folder = copyOf(t, { addon: 'it would not load', packages: { [own]: whole } });
    assert.deepEqual(await run(folder, { program }), used([own]));
  });

  test('is left alone where one was compiled', async (t) => {
    const folder = copyOf(t, { packages: { [own]: 'it would not load' } });
    assert.deepEqual(await run(folder, { program }), used(['Release']));
  });

  test('for the other C library is skipped', { skip: !linux && 'there is one' }, async (t) => {
    for (const [bad, good] of [
      [musl, own],
      [own, musl],
    ]) {
      const folder = copyOf(t, { addon: null, packages: { [bad]: foreign, [good]: whole } });
      assert.deepEqual(await run(folder, { program }), used([good]));
    }
  });

  test('that is no good is named, with the reason', { skip: !linux && 'two fit' }, async (t) => {
    const folder = copyOf(t, { addon: null, packages: { [own]: foreign, [musl]: 'a text' } });
    const { nativeError } = await run(folder);
    await assertJavaScript(folder, /./);
    const texts = nativeError.split('; ');
    assert.equal(texts.length, 2);
    assert.ok(texts[0].startsWith(`${packagedOf(folder, musl)}: `), texts[0]);
    assert.ok(texts[1].startsWith(`${packagedOf(folder, own)}: libc.`), texts[1]);
  });

  test('that needs a newer C library is not used', {
    skip: !linux && 'ELF has them',
  }, async (t) => {
    const newer = Buffer.from(
      whole.toString('latin1').replaceAll(/GLIBC_2\.\d\b/g, (name) => `${name.slice(0, -3)}9.9`),
      'latin1',
    );
    assert.notDeepEqual(newer, whole);
    const folder = copyOf(t, { addon: null, packages: { [own]: newer } });
    await assertJavaScript(folder, /millrace\.node/);
  });

  test('whose file is gone is named', async (t) => {
    const folder = copyOf(t, { addon: null, packages: { [own]: null } });
    await assertJavaScript(folder, /ENOENT: .*millrace\.node/);
  });

  test('of another version is not used', async (t) => {
    const folder = copyOf(t, { addon: null, packages: { [own]: whole }, version: '0.0.9' });
    const why = `^the package @millrace/${own} that is installed where it runs is 0\\.0\\.9, not `;
    await assertJavaScript(folder, new RegExp(why));
  });
});

for (const [what, content] of Object.entries({
  'a text': 'const addon = null;\n',
  'an empty file': '',
  'an addon for Windows': Buffer.concat([Buffer.from('MZ\x90\0'), Buffer.alloc(1000)]),
  'an addon for macOS': Buffer.concat([Buffer.from('cffaedfe', 'hex'), Buffer.alloc(1000)]),
})) {
  test(`${what} in the place of the addon`, async (t) => {
    await assertJavaScript(copyOf(t, { addon: content }), /millrace\.node/);
  });
}

test('a folder in the place of the addon', async (t) => {
  const folder = copyOf(t, { addon: null });
  symlinkSync(folder, binaryOf(folder));
  await assertJavaScript(folder, /./);
});

test('an addon that is cut short', {
  skip: skip || (!linux && 'the system checks it'),
}, async (t) => {
  const folder = copyOf(t, { addon: null });
  for (const part of [0.001, 0.01, 0.3, 0.6, 0.999]) {
    writeFileSync(binaryOf(folder), whole.subarray(0, Math.floor(whole.length * part)));
    const { native, nativeError } = await run(folder);
    assert.equal(native, null);
    assert.match(nativeError, /is cut short|too short/);
  }
});

test('an addon for another processor', {
  skip: skip || (!linux && 'it is made for ELF'),
}, async (t) => {
  const other = Buffer.from(whole);
  const riscv = 243;
  assert.notEqual(other.readUInt16LE(18), riscv);
  other.writeUInt16LE(riscv, 18);
  await assertJavaScript(copyOf(t, { addon: other }), /millrace\.node/);
});

test('an addon that was built from another version of the package', { skip }, async (t) => {
  const folder = copyOf(t, { manifest: { version: '0.0.9' } });
  const why = new RegExp(`is of millrace ${version}, not of millrace 0\\.0\\.9$`);
  await assertJavaScript(folder, why);
});

test('a bundle does not load the addon of the package that it is in', { skip }, async (t) => {
  const folder = copyOf(t, { manifest: { name: 'an-application' } });
  await assertJavaScript(
    folder,
    /^it is bundled, and the package millrace is not installed where it runs$/,
  );
});

test('addons are forbidden', { skip }, async (t) => {
  const { native, nativeError } = await run(copyOf(t), { flags: ['--no-addons'] });
  assert.equal(native, null);
  assert.match(nativeError, /addon/i);
});

test('worker threads load it, some at the same time, and end', { skip }, async (t) => {
  const program = `
    const { Worker } = require('node:worker_threads');
    const text = "import('millrace').then(({ native }) => require('node:worker_threads').parentPort.postMessage(native))";
    const one = () => new Promise((resolve, reject) => {
      const worker = new Worker(text, { eval: true });
      let seen;
      worker.on('message', (native) => { seen = native; });
      worker.on('error', reject);
      worker.on('exit', () => resolve(seen));
    });
    (async () => {
      const seen = [];
      for (let round = 0; round < 3; round++) seen.push(...(await Promise.all([one(), one(), one()])));
      const { native } = await import('millrace');
      seen.push(native, await one());
      console.log(JSON.stringify(seen));
    })();
  `;
  const seen = await run(copyOf(t), { program });
  assert.equal(seen.length, 11);
  for (const native of seen) assert.deepEqual(native, seen[0]);
  assert.notEqual(seen[0], null);
});

test('another folder is looked in where MILLRACE_PREBUILD names one', { skip }, async (t) => {
  const folder = copyOf(t, { addon: null });
  const built = join(dirname(addon), '../../..');
  assert.notEqual((await run(folder, { prebuild: built })).native, null);
  assert.equal((await run(folder, { prebuild: '' })).native, null);
});

test('two copies of the package have an addon each', { skip }, async (t) => {
  const [first, second] = [copyOf(t), copyOf(t)];
  const program = `
    const load = (folder) => import(folder + '/node_modules/millrace/dist/native/load.js');
    Promise.all(${JSON.stringify([first, second])}.map(load)).then(([a, b]) => {
      console.log(JSON.stringify({ both: Boolean(a.binding && b.binding), one: a.binding === b.binding }));
    });
  `;
  assert.deepEqual(await run(first, { program }), { both: true, one: false });
});
