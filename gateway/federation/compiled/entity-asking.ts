import { applyRewrites } from '@apollo/gateway/dist/dataRewrites.js';

import type { AskedEntity, EntityBatch, KnownEntities } from './entity-answers.ts';
import { type FetchPlace, type Send, usedVariables } from './fetch.ts';
import type { Represent } from './representations.ts';
import type { Run } from './run.ts';
import type { Members } from './shape/merged.ts';

/** The parts of a fetch of entities that never change. */
export interface EntityFetch extends FetchPlace {
  readonly send: Send;
  readonly represent: Represent;
  /** Whether what is answered can be handed to several objects without one writing into another's part. */
  readonly bringsLeavesOnly: boolean;
  /** What is asked, without the name that each fetch of a plan has; null when no other fetch can use the answer. */
  readonly question: string | null;
}

/** What a fetch asks for in one run. */
export interface Asking {
  /** The batch that this fetch sent itself. */
  readonly own: EntityBatch;
  readonly variables: Members;
  readonly joined: Joined[];
}

/** An object of the data so far, and the entity that was asked for it. */
export interface Joined {
  readonly object: Members;
  entity: AskedEntity;
}

/** Finds what the objects require, and sends what nobody has asked for yet. */
export function collect(compiled: EntityFetch, run: Run, objects: readonly unknown[]): Asking {
  const { fetch, supergraphSchema, represent } = compiled;
  const variables = usedVariables(fetch, run);
  if ('representations' in variables) throw new Error('Variables cannot contain key "representations"');
  const known = knownEntities(compiled, run, variables);
  const own = emptyBatch();
  const fresh: string[] = [];
  const joined: Joined[] = [];
  for (const object of objects as readonly Members[]) {
    const representation = represent(object);
    if (representation === null || !representation['__typename']) continue;
    // Before the rewrites, which may give objects of different types one name.
    const key = JSON.stringify(representation);
    let entity = known.get(key);
    if (entity === undefined) {
      applyRewrites(supergraphSchema, fetch.inputRewrites, representation);
      entity = { batch: own, index: own.representations.push(representation) - 1 };
      known.set(key, entity);
      fresh.push(key);
    } else if (!compiled.bringsLeavesOnly) run.isShared = true;
    joined.push({ object, entity });
  }
  const asking = { own, variables, joined };
  sendBatch(compiled, run, { batch: own, variables }, () => {
    // A failure is nobody else's: who asks later may be luckier.
    if (own.result?.errors !== undefined) for (const key of fresh) known.delete(key);
  });
  return asking;
}

function knownEntities({ question }: EntityFetch, run: Run, variables: Members): KnownEntities {
  if (question === null || run.answers === null) return new Map();
  return run.answers.of(`${question} ${JSON.stringify(variables)}`);
}

function emptyBatch(): EntityBatch {
  return { representations: [], answer: Promise.resolve(), result: null };
}

function sendBatch(
  { send }: EntityFetch,
  run: Run,
  { batch, variables }: { readonly batch: EntityBatch; readonly variables: Members },
  done?: () => void,
): void {
  const { representations } = batch;
  if (representations.length === 0) return;
  batch.answer = send(run, { ...variables, representations }).then((result) => {
    batch.result = result;
    done?.();
  });
}

/**
 * Waits for every batch that has something for this fetch. What another fetch asked for in vain is asked for once more, so
 * that one entity that its subgraph fails at costs no other fetch anything.
 */
export async function answered(
  compiled: EntityFetch,
  run: Run,
  { own, variables, joined }: Asking,
): Promise<ReadonlySet<EntityBatch>> {
  const batches = new Set(joined.map(({ entity }) => entity.batch));
  for (const batch of batches) await batch.answer;
  const lost = joined.filter(({ entity: { batch } }) => batch !== own && !batch.result?.data);
  if (lost.length === 0) return batches;
  const again = emptyBatch();
  const asked = new Map<AskedEntity, AskedEntity>();
  for (const one of lost) {
    const { batch, index } = one.entity;
    const known = asked.get(one.entity);
    const representation = batch.representations[index] ?? {};
    const entity = known ?? { batch: again, index: again.representations.push(representation) - 1 };
    asked.set(one.entity, entity);
    batches.delete(batch);
    one.entity = entity;
  }
  sendBatch(compiled, run, { batch: again, variables });
  await again.answer;
  return batches.add(again);
}
