import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import type { Answer, Failed, Question } from './asker.ts';

/** Asks test files of a copy, in their order until one fails: null when none does. */
export interface TestRuns {
  ask(question: Question): Promise<Failed | 'without an end' | null>;
}

/** Longest run of the tests of one change, in milliseconds: stuck, not slow. */
const TIMEOUT_MS = 900_000;

/** What the databases of a run are prepared by, once: no run shares them with one in which that was changed. */
const PREPARES = /(^|\/)database\//;

/** Keeps one vitest in the copy; one that is stuck is ended, and the next question starts another. */
export function openTestRuns(root: string): TestRuns {
  let asker: ChildProcess | undefined;
  process.once('exit', () => asker?.kill('SIGTERM'));
  const end = () => {
    asker?.kill('SIGKILL');
    asker = undefined;
  };
  return {
    async ask(question) {
      const isApart = question.changed.some((file) => PREPARES.test(file));
      if (isApart) end();
      asker ??= await start(root);
      const answer = await ask(asker, question);
      if (isApart || answer === 'without an end') end();
      if (answer === 'without an end') return answer;
      if ('problem' in answer) throw new Error(answer.problem);
      return answer.failed;
    },
  };
}

async function start(root: string): Promise<ChildProcess> {
  // A word with a slash: what only the whole suite runs is asked too (test/kit/extent.ts).
  const asker = fork(path.join(root, 'tools/mutants/asker.ts'), ['/'], { cwd: root, stdio: 'ignore' });
  const [ready] = (await Promise.race([once(asker, 'message'), once(asker, 'exit')])) as unknown[];
  if (ready !== 'ready') throw new Error('vitest does not start in the copy');
  return asker;
}

async function ask(asker: ChildProcess, question: Question): Promise<Answer | 'without an end'> {
  const late = setTimeout(() => asker.kill('SIGKILL'), TIMEOUT_MS);
  const settled = new AbortController();
  const answered = once(asker, 'message', settled) as Promise<[Answer]>;
  const exited = once(asker, 'exit', settled).then((): ['without an end'] => ['without an end']);
  asker.send(question);
  try {
    const [answer] = await Promise.race([answered, exited]);
    return answer;
  } finally {
    clearTimeout(late);
    settled.abort();
  }
}
