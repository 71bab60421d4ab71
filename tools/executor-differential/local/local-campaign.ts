import { setImmediate as nextTurn } from 'node:timers/promises';

import { execute, OperationTypeNode, parse, type ExecutionResult, type GraphQLSchema } from 'graphql';

import {
  createCompiledExecutor,
  type CompiledExecutor,
} from '../../../platform/graphql/execution/compiled-executor.ts';
import { createRandom } from '../../fuzz/random.ts';
import { hashParts } from '../hash.ts';
import { randomOperation, type Operation } from '../random-operation.ts';
import { shrunken } from '../shrink.ts';
import { installOddResolvers, type OddContext, type OddResolvers } from './odd-resolvers.ts';

/** A schema with odd resolvers, and the executor that is held against graphql-js over it. */
export interface LocalSubject {
  readonly name: string;
  readonly schema: GraphQLSchema;
  readonly executor: CompiledExecutor;
  readonly resolvers: OddResolvers;
}

export function createLocalSubject(name: string, schema: GraphQLSchema): LocalSubject {
  const resolvers = installOddResolvers(schema);
  return { name, schema, executor: createCompiledExecutor(schema), resolvers };
}

export interface LocalOutcome {
  readonly cases: number;
  readonly withErrors: number;
  readonly calls: number;
  readonly differences: readonly string[];
}

const CASES_OF_AN_OPERATION = 4;
const MAX_DIFFERENCES = 5;

/** Random operations in turns over the subjects, each with several seeds, at once and later. */
export async function runLocalCampaign(options: {
  readonly subjects: readonly LocalSubject[];
  readonly cases: number;
  readonly seed: number;
}): Promise<LocalOutcome> {
  const { subjects, cases, seed } = options;
  const differences: string[] = [];
  const counts = { cases: 0, withErrors: 0, calls: 0 };
  for (let round = 0; counts.cases < cases && differences.length < MAX_DIFFERENCES; round += 1) {
    const subject = subjects[round % subjects.length];
    if (subject === undefined) throw new Error('no schema');
    const operation = drawOperation(subject, hashParts(seed, round));
    if (operation === null) continue;
    for (let index = 0; index < CASES_OF_AN_OPERATION; index += 1) {
      const chosen = {
        seed: hashParts(seed, round, index),
        mode: index % 2 === 0 ? 'at once' : 'later',
      } as const;
      const { expected, difference } = await compared(subject, operation, chosen);
      counts.cases += 1;
      counts.calls += expected.context.calls.length;
      if (expected.result.errors !== undefined) counts.withErrors += 1;
      if (difference !== null) differences.push(await report(subject, operation, chosen));
    }
  }
  return { ...counts, differences };
}

function drawOperation({ schema }: LocalSubject, seed: number): Operation | null {
  const random = createRandom(seed);
  const kinds = [OperationTypeNode.QUERY, OperationTypeNode.QUERY, OperationTypeNode.MUTATION];
  const kind = random.of(kinds.filter((one) => schema.getRootType(one)));
  return randomOperation({ schema, kind, random, misfits: 5 });
}

interface Chosen {
  readonly seed: number;
  readonly mode: OddContext['mode'];
}

interface Seen {
  readonly result: ExecutionResult;
  readonly context: OddContext;
}

async function compared({ schema, executor, resolvers }: LocalSubject, operation: Operation, chosen: Chosen) {
  const { seed, mode } = chosen;
  const document = parse(operation.query);
  const seen = async (
    run: (request: object & Parameters<CompiledExecutor['execute']>[0]) => unknown,
  ): Promise<Seen> => {
    const context = resolvers.makeContext(seed, mode);
    const result = await run({ document, variableValues: operation.variables, contextValue: context });
    if (mode === 'later') await settled(context);
    return { result: result as ExecutionResult, context };
  };
  const expected = await withoutUnhandled(() => seen((request) => execute({ schema, ...request })));
  const run = () => seen((request) => executor.execute(request));
  const ours = await (RARE.test(operation.query) ? withoutUnhandled(run) : run());
  return { expected, difference: findDifference(ours, expected, mode) };
}

/** Waits until nothing is called any more: what a failed member was made of still runs when the result is there. */
async function settled({ calls }: OddContext): Promise<void> {
  for (let quiet = 0, before = calls.length; quiet < 3; before = calls.length) {
    await nextTurn();
    quiet = calls.length === before ? quiet + 1 : 0;
  }
}

/**
 * graphql-js leaves rejections unhandled where an element of a list fails at once while others are pending. Those are none
 * of ours; one of our own ends the process, or fails the test.
 */
async function withoutUnhandled<Result>(run: () => Promise<Result>): Promise<Result> {
  const listeners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', () => undefined);
  try {
    return await run();
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const listener of listeners) process.on('unhandledRejection', listener);
  }
}

/** What our executor leaves to graphql-js. */
const RARE = /__schema|__type\(|__proto__/;

/** At once everything is the same to the letter; later the order of calls and errors is up to the promises. */
function findDifference(ours: Seen, expected: Seen, mode: Chosen['mode']): string | null {
  const told = mode === 'at once' ? exactly : inAnyOrder;
  const [mine, theirs] = [told(ours), told(expected)];
  for (const part of ['data', 'errors', 'calls'] as const) {
    if (mine[part] !== theirs[part])
      return `${part}\n  ours       ${mine[part]}\n  graphql-js ${theirs[part]}`;
  }
  return null;
}

function exactly({ result, context }: Seen) {
  return {
    data: JSON.stringify(result),
    errors: JSON.stringify(
      result.errors?.map(({ message, path, nodes }) => [message, path, nodes?.map(({ loc }) => loc?.start)]),
    ),
    calls: context.calls.join('\n'),
  };
}

function inAnyOrder({ result, context }: Seen) {
  // Of several errors that make one member null, the first to come is told; which that is is up to the promises too.
  const nulled = new Set(result.errors?.map(({ path }) => nulledBy(path ?? [], result.data)));
  return {
    data: JSON.stringify(result.data ?? null),
    errors: [...nulled].toSorted().join(),
    calls: [...new Set(context.calls)].toSorted().join('\n'),
  };
}

/** The place that became null by an error at a path. */
function nulledBy(path: readonly (string | number)[], data: unknown): string {
  let value = data;
  for (const [index, key] of path.entries()) {
    if (value === null || value === undefined) return JSON.stringify(path.slice(0, index));
    value = (value as Record<string | number, unknown>)[key];
  }
  return JSON.stringify(path);
}

async function report(subject: LocalSubject, operation: Operation, chosen: Chosen): Promise<string> {
  const { variables } = operation;
  const differs = async (query: string) => (await compared(subject, { query, variables }, chosen)).difference;
  const smallest = await shrunken(
    operation.query,
    subject.schema,
    async (query) => (await differs(query)) !== null,
  );
  return [
    `${subject.name}, ${JSON.stringify({ ...chosen, variables })}`,
    smallest,
    await differs(smallest),
  ].join('\n');
}
