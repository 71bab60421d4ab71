import { graphql, until } from '../kit/clients/requests.ts';
import { serviceKey } from '../kit/processes/kiln-process.ts';
import type { SandboxProcess } from '../kit/processes/sandbox-process.ts';

/** Many tasks at once, and what the tests of durability ask of them. */

/** A task with the whole history of its starts. */
export interface TaskRecord {
  readonly id: string;
  readonly generator: string;
  readonly state: 'QUEUED' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
  readonly lastSeq: number;
  readonly error: { readonly code: string } | null;
  readonly outputs: readonly { readonly id: string }[];
  readonly attempts: readonly AttemptRecord[];
}

interface AttemptRecord {
  readonly reference: string;
  readonly state: 'STARTING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | 'UNKNOWN';
  readonly error: { readonly code: string } | null;
}

const TASKS = `query ($after: String) { tasks(first: 50, after: $after) {
  edges { node {
    id generator state lastSeq error { code } outputs { id } attempts { reference state error { code } }
  } }
  pageInfo { hasNextPage endCursor }
} }`;

/** Starts `count` images at a generator, one request each. */
export async function submitImages(
  url: string,
  generator: string,
  count: number,
): Promise<readonly string[]> {
  const mutation = `mutation ($generator: String!, $prompt: String!) {
    generateImage(input: { generator: $generator, prompt: $prompt }) { id }
  }`;
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      graphql(url, mutation, { generator, prompt: `image ${index}` }, serviceKey),
    ),
  );
  return answers.map(({ data, errors }) => {
    if (errors !== undefined) throw new Error(`not accepted: ${JSON.stringify(errors)}`);
    return data.generateImage.id as string;
  });
}

/** Every task of the tests' key. */
export async function allTasks(url: string): Promise<readonly TaskRecord[]> {
  const tasks: TaskRecord[] = [];
  for (let after: string | null = null; ;) {
    const { data, errors } = await graphql(url, TASKS, { after }, serviceKey);
    if (errors !== undefined) throw new Error(`no list: ${JSON.stringify(errors)}`);
    tasks.push(...data.tasks.edges.map(({ node }: { node: TaskRecord }) => node));
    if (!data.tasks.pageInfo.hasNextPage) return tasks;
    after = data.tasks.pageInfo.endCursor;
  }
}

/** Waits until every task has ended. */
export function untilAllEnded(url: string, timeoutMs = 120_000): Promise<readonly TaskRecord[]> {
  return until(
    () => allTasks(url),
    (tasks) => tasks.every(({ state }) => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(state)),
    timeoutMs,
    500,
  );
}

/** How many there are of each, for one assertion over many. */
export function tally(words: Iterable<string>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

/**
 * What must hold whatever was killed or cut off: references with more than one start, starts of references that no attempt
 * has, tasks whose upstream work was started more than once, and steps of which the provider's journal has more than one
 * purchase: work that it finished, or is still doing. All empty in a Kiln that keeps its word.
 */
export async function violations(sandbox: SandboxProcess, tasks: readonly TaskRecord[]): Promise<object> {
  const starts = await sandbox.starts();
  const attempts = tasks.flatMap((task) => task.attempts);
  const known = new Set(attempts.map(({ reference }) => reference));
  const perTask = tally(Object.keys(starts).map((reference) => reference.split('/')[0] ?? ''));
  return {
    startedTwice: Object.keys(starts).filter((reference) => starts[reference] !== 1),
    startedUnasked: Object.keys(starts).filter((reference) => !known.has(reference)),
    tasksPaidTwice: Object.keys(perTask).filter((id) => perTask[id] !== 1),
    boughtTwice: await boughtTwice(sandbox),
    stillOpen: attempts.filter(({ state }) => state === 'STARTING' || state === 'RUNNING'),
  };
}

/** Steps by what the provider itself wrote down, whatever our attempts say. */
async function boughtTwice(sandbox: SandboxProcess): Promise<readonly string[]> {
  const paid = (await sandbox.jobs()).filter(({ state }) => state !== 'failed' && state !== 'cancelled');
  const perStep = tally(paid.flatMap(({ reference }) => reference?.split('/').slice(0, 2).join('/') ?? []));
  return Object.keys(perStep).filter((step) => perStep[step] !== 1);
}

/** What `violations` answers when there is none. */
export const NO_VIOLATIONS = {
  startedTwice: [],
  startedUnasked: [],
  tasksPaidTwice: [],
  boughtTwice: [],
  stillOpen: [],
};
