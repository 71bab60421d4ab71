import { useSyncExternalStore } from 'react';

import { client } from './client.ts';
import { ModelsDocument } from './documents/api.ts';
import type { ModelsQuery } from './documents/operations.ts';
import { onHealed } from './kiln.ts';

/**
 * The models, kept as they came. Apollo's cache takes every field of hundreds of models apart and puts them together again,
 * which blocks a page for longer than everything else that it does.
 */

type Models = ModelsQuery['models'];

/** What is known of the models. */
interface KnownModels {
  /** Undefined until the server has answered. */
  readonly models?: Models;
  readonly error?: Error;
}

let known: KnownModels = {};
let isAsking = false;
/** Raised when other models are to be shown: an answer to an earlier question is dropped. */
let question = 0;
const listeners = new Set<() => void>();

function show(next: KnownModels): void {
  known = next;
  for (const listener of listeners) listener();
}

async function ask(): Promise<void> {
  const own = question;
  isAsking = true;
  const next = await client.query({ query: ModelsDocument, fetchPolicy: 'no-cache' }).then(
    ({ data }): KnownModels => (data === undefined ? {} : { models: data.models }),
    (error: unknown): KnownModels => ({ error: error instanceof Error ? error : new Error(String(error)) }),
  );
  if (own !== question) return;
  isAsking = false;
  show(next);
}

/** Asks for the models again, now where they are shown, else when they are next. */
export function forgetModels(): void {
  question += 1;
  isAsking = false;
  show({});
  if (listeners.size > 0) void ask();
}

/** Adds a model that the list of the server does not have. */
export function addModel(model: Models[number]): void {
  const { models } = known;
  if (models !== undefined && !models.some(({ id }) => id === model.id)) show({ models: [...models, model] });
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  if (known.models === undefined && !isAsking) void ask();
  return () => listeners.delete(listener);
}

/** Every model that can be asked and those that have ended, the same list for all of the page. */
export function useModels(): KnownModels {
  return useSyncExternalStore(listen, () => known);
}

// Another caller, or another cell, has others.
client.onResetStore(async () => forgetModels());
onHealed(() => known.error !== undefined && forgetModels());
