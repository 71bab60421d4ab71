import path from 'node:path';
import { inspect } from 'node:util';

import {
  BaseSequencer,
  createVitest,
  type TestCase,
  type TestModule,
  type TestSpecification,
} from 'vitest/node';

/** What a run of test files is asked for: the files, in the order to run them in, and what has changed since the last. */
export interface Question {
  readonly tests: readonly string[];
  readonly changed: readonly string[];
}

/** The first test that failed, with its file; null: none did. Or that these could not be run. */
export type Answer = { readonly failed: Failed | null } | { readonly problem: string };

/** A test that failed, and its file (relative to the project); several when nobody knows of which the error is. */
export interface Failed {
  readonly files: readonly string[];
  readonly by: string;
  /** It ran into a time limit: on a busy machine that says nothing. */
  readonly isLate: boolean;
}

/** The order that they are asked in: the nearest first. */
class AsAsked extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files);
  }
}

// A process of its own, in the copy: one vitest that stays, so that only what has changed is transformed again.
const root = process.cwd();
// As vitest's own program does: Apollo Server tells stack traces elsewhere, which a test that compares errors sees.
process.env['NODE_ENV'] ??= 'test';
// What a change keeps from coming is waited for: not as long as on the busiest machine.
process.env['ASYNC_TIMEOUT_MS'] = '10000';
let failed: Failed | null = null;
let ended = 0;
/** What the run before was asked with: it is what it was again. */
let before: readonly string[] = [];
const vitest = await createVitest('test', {
  watch: false,
  maxWorkers: 1,
  sequence: { sequencer: AsAsked },
  reporters: [
    {
      onTestCaseResult(test: TestCase) {
        const { state, errors = [] } = test.result();
        if (state === 'failed') see(test.module, test.fullName, errors);
      },
      onTestModuleEnd(module: TestModule) {
        ended += 1;
        if (module.state() === 'failed') see(module, 'it could not be loaded', module.errors());
      },
    },
  ],
});
const specifications = new Map((await vitest.globTestSpecifications()).map((each) => [each.moduleId, each]));
process.on('message', (question: Question) => {
  void ask(question).then(
    (answer) => process.send?.(answer),
    (error: unknown) => process.send?.({ problem: String(error) } satisfies Answer),
  );
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');

/** The first failure ends the run. */
function see(module: TestModule, by: string, errors: readonly { readonly message: string }[]): void {
  if (failed !== null) return;
  const isLate = errors.some(({ message }) => /timed out|did not succeed in time/i.test(message));
  failed = { files: [path.relative(root, module.moduleId)], by, isLate };
  void vitest.cancelCurrentRun('test-failure');
}

async function ask({ tests, changed }: Question): Promise<Answer> {
  failed = null;
  ended = 0;
  for (const file of [...before, ...changed]) vitest.invalidateFile(path.join(root, file));
  before = changed;
  const asked = tests.map((file) => specifications.get(path.join(root, file)));
  if (asked.includes(undefined)) return { problem: `not a test file: ${tests[asked.indexOf(undefined)]}` };
  const { unhandledErrors } = await vitest.runTestSpecifications(asked.filter((each) => each !== undefined));
  if (failed !== null) return { failed };
  const [error] = unhandledErrors;
  if (error !== undefined) return { failed: { files: tests, by: inspect(error), isLate: false } };
  // What was not run has not held.
  return ended === tests.length ? { failed } : { problem: `${ended} of ${tests.length} test files were run` };
}
