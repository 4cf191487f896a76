/** The counts of tests that are read from reports, as CTest and gotestsum write them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { counted, junit } from '../lib/counts.js';
import { Failure } from '../lib/failure.js';

const ctest = `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)"
	tests="4"
	>
	<testcase name="good" classname="good" time="0.008" status="run">
		<system-out></system-out>
	</testcase>
	<testcase name="bad" classname="bad" time="0.038" status="fail">
		<failure message=""/>
		<system-out>a &lt;b&gt; &amp; "c"
</system-out>
	</testcase>
	<testcase name="skip" classname="skip" time="0.013" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out>first
needs io_uring
</system-out>
	</testcase>
	<testcase name="gone" classname="gone" time="0" status="notrun">
		<skipped message="Unable to find executable"/>
		<system-out>Unable to find executable: /nowhere/x</system-out>
	</testcase>
</testsuite>`;

const gotestsum = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="6" failures="3" errors="1" time="1.240076">
	<testsuite tests="4" failures="1" skipped="1" time="0.049000" name="x" timestamp="2026-11-26T18:26:38Z">
		<testcase classname="x" name="TestBad" time="0.000000">
			<failure message="Failed" type="">=== RUN   TestBad&#xA;    x_test.go:4: &#34;c&#34;&#xA;--- FAIL: TestBad (0.00s)&#xA;</failure>
		</testcase>
		<testcase classname="x" name="TestSkip" time="0.000000">
			<skipped message="=== RUN   TestSkip&#xA;    x_test.go:5: needs io_uring&#xA;--- SKIP: TestSkip (0.00s)&#xA;"></skipped>
		</testcase>
		<testcase classname="x" name="TestGood/inner" time="0.000000"></testcase>
		<testcase classname="x" name="TestGood" time="0.000000"></testcase>
	</testsuite>
	<testsuite tests="0" failures="0" time="0.000000" name="x/broken" timestamp="2026-11-26T18:26:38Z">
		<testcase classname="" name="TestMain" time="0.000000">
			<failure message="Failed" type="">FAIL&#x9;x/broken [build failed]&#xA;</failure>
		</testcase>
	</testsuite>
</testsuites>`;

describe('junit', () => {
  test('counts what CTest reports; a program that is missing has failed', () => {
    assert.deepEqual(junit(ctest), {
      passed: 1,
      failed: 2,
      skipped: 1,
      failedNames: ['bad', 'gone'],
      skippedNames: ['skip: needs io_uring'],
      said: ['failed: bad', 'a <b> & "c"', 'failed: gone', 'Unable to find executable: /nowhere/x'],
    });
  });

  test('counts what gotestsum reports; a package that does not compile has failed', () => {
    assert.deepEqual(junit(gotestsum), {
      passed: 2,
      failed: 2,
      skipped: 1,
      failedNames: ['x: TestBad', 'x/broken: TestMain'],
      skippedNames: ['x: TestSkip:     x_test.go:5: needs io_uring'],
      said: [
        'failed: x: TestBad',
        '    x_test.go:4: "c"',
        'failed: x/broken: TestMain',
        'FAIL\tx/broken [build failed]',
      ],
    });
  });
});

describe('counted', () => {
  const run = (counts, error) => (report) => {
    writeFileSync(report, JSON.stringify(counts));
    return error ? Promise.reject(error) : Promise.resolve();
  };
  const ended = new Failure('it ended with code 1');

  test('has the counts of tests that failed', async () => {
    assert.deepEqual(await counted(run({ passed: 2, failed: 1 }, ended)), { passed: 2, failed: 1 });
  });

  test('rejects if the program fails and none of its tests has', async () => {
    await assert.rejects(counted(run({ passed: 2, failed: 0 }, ended)), ended);
  });

  test('rejects if the program leaves no report', async () => {
    await assert.rejects(
      counted(() => Promise.reject(ended)),
      ended,
    );
    await assert.rejects(
      counted(async () => {}),
      { code: 'ENOENT' },
    );
  });
});
