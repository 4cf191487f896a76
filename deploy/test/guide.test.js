/** The guide names what is there: files, folders, arguments, and the numbers that it takes from the manifests. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { metrics, readTrigger } from '../scaler/triggers.js';
import { container, folder, list, object, read, root, yaml } from './lib/files.js';

const guide = readFileSync(join(root, 'docs/guides/deploy.md'), 'utf8');
const written = [
  guide,
  ...['Dockerfile', 'compose.yaml', 'appengine/app.yaml', 'container/start.js'].map(read),
].join('\n');

test('each path in it is there', () => {
  const paths = [...written.matchAll(/\b(?:deploy|examples)\/[\w./-]*\w/g)].map(([path]) => path);
  assert.ok(paths.length > 20);
  for (const path of paths) {
    assert.ok(existsSync(join(root, path)) || path === 'deploy/compose.env', path);
  }
});

test('the table of folders is the folders', () => {
  const start = guide.indexOf('| folder |');
  const cells = guide.slice(start, guide.indexOf('\n\n', start)).matchAll(/^\| (`[^|]+) \|/gm);
  const rows = [...cells].flatMap(([, cell]) => [...cell.matchAll(/`([\w-]+)`/g)]);
  assert.deepEqual(rows.map(([, name]) => name).sort(), readdirSync(`${folder}kubernetes`).sort());
});

test('the arguments of builds are those of the Dockerfile, and the images those of the manifests', () => {
  const given = [...written.matchAll(/--build-arg (\w+)=/g)].map(([, name]) => name);
  assert.ok(given.length >= 4);
  for (const name of given) assert.match(read('Dockerfile'), new RegExp(`^ARG ${name}=`, 'm'));
  const { images } = yaml('kubernetes/production/kustomization.yaml');
  const imageOf = (name) => container('Deployment', name).image;
  const used = ['chat', 'compute', 'worker'].map(imageOf);
  assert.deepEqual(
    images.map(({ name }) => name),
    [...new Set(used)],
  );
  for (const name of [...used, imageOf('scaler')])
    assert.match(guide, new RegExp(`-t ${name} \\.`));
});

test('the names of secrets and jobs, the times and the shares are those of the files', () => {
  const { terminationGracePeriodSeconds } = object('Deployment', 'chat').spec.template.spec;
  const { periodSeconds, failureThreshold, timeoutSeconds } = container(
    'Deployment',
    'chat',
  ).readinessProbe;
  const sentence = `(${failureThreshold} × ${periodSeconds} s and its timeout of ${timeoutSeconds} s, against 10 s)`;
  assert.ok(guide.includes(sentence), sentence);
  assert.ok(guide.includes(`(${terminationGracePeriodSeconds} s against 10 + 13)`));
  for (const name of ['DATABASE_URL', 'BROKER_URL']) {
    assert.ok(
      guide.includes(name) && read('kubernetes/chat/deployment.yaml').includes(`key: ${name}`),
    );
  }
  const thresholds = list('kubernetes/scale-load', 'scalers.yaml').map(read).join('');
  for (const number of ["'0.6'", "'0.01'", "'0.5'", "'10'", "'100'", "'1000'"]) {
    assert.match(thresholds, new RegExp(`hreshold: ${number}`));
  }
});

test('the tables of the scaler have its options, its keys and its metrics', () => {
  const section = guide.slice(guide.indexOf('## The scaler'), guide.indexOf('## Container or'));
  const cells = (pattern) => [...section.matchAll(pattern)].map(([, name]) => name).sort();
  const help = execFileSync(process.execPath, [join(root, 'deploy/scaler/main.js'), '--help'], {
    encoding: 'utf8',
  });
  const options = [...help.matchAll(/^ {2}(?:-\w, | {4})--([\w-]+)/gm)].map(([, name]) => name);
  const named = cells(/`--([\w-]+)`/g);
  assert.deepEqual(options.filter((name) => name !== 'help').sort(), named);
  const isUnknown = (key) =>
    Object.entries(metrics).every(([metric, { of }]) => {
      const source = of === 'pods' ? { source: 'http://a/metrics' } : { stream: 'a' };
      try {
        readTrigger({ metric, ...source, [key]: 'x' });
      } catch ({ message }) {
        return message.startsWith(`metadata has "${key}"`);
      }
      return false;
    });
  assert.deepEqual(cells(/^\| `(\w+)` \|/gm).filter(isUnknown), []);
  assert.ok(isUnknown('treshold'));
  for (const [metric, { threshold }] of Object.entries(metrics)) {
    assert.ok(section.includes(`\`${metric}\``), metric);
    assert.match(section, new RegExp(`^\\| \`threshold\` \\| [^|]*\\b${threshold}\\b`, 'm'));
  }
});
