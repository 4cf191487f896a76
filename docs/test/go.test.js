/** The snippets of Go on the first page and in Getting started run; those of the guides are tested by their packages. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { goCommand, goEnvironment } from '../../scripts/lib/go.js';
import { root } from '../../scripts/lib/paths.js';
import { ofKind } from './lib/all.js';

const run = promisify(execFile);

const program = (code) => `package main

import (
	"context"

	"millrace.dev/go/batch"
	"millrace.dev/go/eventloop"
)

type (
	Row  struct{}
	ID   int
	rows struct{}
)

func (rows) Insert(ctx context.Context, all []Row) ([]ID, error) { return make([]ID, len(all)), ctx.Err() }

func main() {
	var (
		loop, _ = eventloop.New(eventloop.Config{})
		ctx     = context.Background()
		state   int
		db      rows
		row     Row
	)
	task := func() {}
	loop.Start()
${code}
	if err != nil || id != 0 {
		panic(err)
	}
}
`;

const module = `module snippet

go 1.25

require millrace.dev/go v0.0.0

replace millrace.dev/go => ${join(root, 'go')}
`;

describe('snippets of Go run', { skip: !goCommand() && 'needs Go' }, () => {
  for (const snippet of ofKind('go')) {
    test(`${snippet.id} (line ${snippet.line})`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'millrace-docs-'));
      t.after(() => rmSync(folder, { recursive: true, force: true }));
      writeFileSync(join(folder, 'go.mod'), module);
      writeFileSync(join(folder, 'main.go'), program(snippet.code));
      const ended = await run('go', ['run', '.'], {
        cwd: folder,
        env: goEnvironment({ race: true }),
      }).catch((error) => error);
      assert.equal(ended.code, undefined, ended.stderr);
    });
  }
});
