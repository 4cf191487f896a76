/** `node scripts/release-notes.js vX.Y.Z`: prints what the changelog says of a release, after a look at whether every part has its version. */
import { exitWith, Failure } from './lib/failure.js';
import { changesOf, versions } from './lib/versions.js';

const tag = process.argv[2] ?? '';

try {
  const version = /^v(\d+\.\d+\.\d+)$/.exec(tag)?.[1];
  if (!version) throw new Failure(`the tag is ${tag || 'missing'}; it is vX.Y.Z`);
  for (const [path, found] of Object.entries(versions())) {
    if (found !== version) throw new Failure(`${path} says ${found}, the tag says ${version}`);
  }
  const notes = changesOf(version);
  if (!notes) throw new Failure(`CHANGELOG.md has no section "## [${version}] - YYYY-MM-DD"`);
  console.log(notes);
} catch (error) {
  exitWith(error);
}
