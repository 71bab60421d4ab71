import { OperationTypeNode } from 'graphql';

import { createRandom } from '../fuzz/random.ts';
import { findDifference } from './compare.ts';
import type { Faults } from './faults.ts';
import { hashParts } from './hash.ts';
import { randomOperation, type Operation } from './random-operation.ts';
import { shrunken } from './shrink.ts';
import type { World } from './world.ts';

/** Many random operations in many federated schemas, each sound and with several sets of faults. */
export interface CampaignOptions {
  readonly worlds: readonly World[];
  readonly cases: number;
  readonly seed: number;
}

export interface Outcome {
  /** How many cases ran, how many of them gave errors, and how many events of subscriptions were compared. */
  readonly cases: number;
  readonly withErrors: number;
  readonly withDeviations: number;
  /** Each difference with the smallest operation that shows it. */
  readonly differences: readonly string[];
}

/** The cases of one operation: planning takes longer than running, so a plan is used several times. */
const FAULTS_PER_THOUSAND = [0, 15, 60, 150];
/** After so many the rest is of the same kind. */
const MAX_DIFFERENCES = 5;

/** Runs the cases, in turns over the worlds; the same seed gives the same cases. */
export async function runCampaign({ worlds, cases, seed }: CampaignOptions): Promise<Outcome> {
  const differences: string[] = [];
  const counts = { cases: 0, withErrors: 0, withDeviations: 0 };
  for (let round = 0; counts.cases < cases && differences.length < MAX_DIFFERENCES; round += 1) {
    const world = worlds[round % worlds.length];
    if (world === undefined) throw new Error('no federated schema');
    const operation = drawOperation(world, seed, round);
    if (operation === null || !world.isPlanned(operation)) continue;
    for (const perThousand of FAULTS_PER_THOUSAND) {
      const faults = { seed: hashParts(seed, round, perThousand), perThousand };
      const { ours, apollo } = await world.run(operation, faults);
      counts.cases += 1;
      if (apollo.some(({ errors }) => errors !== undefined)) counts.withErrors += 1;
      if (apollo.some(({ extensions }) => extensions !== undefined)) counts.withDeviations += 1;
      if (findDifference(ours, apollo) !== null) differences.push(await report(world, operation, faults));
    }
  }
  return { ...counts, differences };
}

function drawOperation(world: World, seed: number, round: number): Operation | null {
  const random = createRandom(hashParts(seed, round));
  const schema = world.apiSchema;
  const others = [OperationTypeNode.MUTATION, OperationTypeNode.SUBSCRIPTION].filter((kind) =>
    schema.getRootType(kind),
  );
  const kind = random.of([OperationTypeNode.QUERY, OperationTypeNode.QUERY, ...others]);
  return randomOperation({ schema, kind, random });
}

/** A difference in words, with the smallest operation that shows one. */
async function report(world: World, { query, variables }: Operation, faults: Faults): Promise<string> {
  const differs = async (smaller: string) => {
    if (!world.isPlanned({ query: smaller, variables })) return null;
    const { ours, apollo } = await world.run({ query: smaller, variables }, faults);
    return findDifference(ours, apollo);
  };
  const smallest = await shrunken(
    query,
    world.apiSchema,
    async (smaller) => (await differs(smaller)) !== null,
  );
  return [
    `${world.name}, faults ${JSON.stringify(faults)}, variables ${JSON.stringify(variables)}`,
    smallest,
    await differs(smallest),
  ].join('\n');
}
