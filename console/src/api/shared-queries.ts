import type { ApolloClient, DocumentNode, TypedDocumentNode, WatchQueryFetchPolicy } from '@apollo/client';
import { useApolloClient } from '@apollo/client/react';
import { useSyncExternalStore } from 'react';

import { CallerDocument, ModelsDocument } from './documents/api.ts';
import type { ModelsQuery } from './documents/operations.ts';

/** Queries that many components show at once: one watches each for all of them, as every useQuery costs milliseconds of its own. */

/** What the server has said to a query. */
interface Answer<Data> {
  /** Undefined until it has answered. */
  readonly data?: Data | undefined;
  readonly error?: Error | undefined;
}

interface Watched<Data> {
  readonly answer: () => Answer<Data>;
  readonly listen: (listener: () => void) => () => void;
  readonly change: (change: (data: Data) => Data) => void;
  readonly end: () => void;
}

type Query<Data> = TypedDocumentNode<Data, Record<string, never>>;

/** By client, then by query: each is watched for as long as the page is there. */
const watched = new WeakMap<ApolloClient, Map<DocumentNode, unknown>>();

/** Ends them, for a client that shows nothing any more: tests open one console after the other. */
export function endSharedQueries(client: ApolloClient): void {
  for (const one of watched.get(client)?.values() ?? []) (one as Watched<unknown>).end();
  watched.delete(client);
}

function watchOnce<Data>(
  client: ApolloClient,
  query: Query<Data>,
  fetchPolicy: WatchQueryFetchPolicy,
): Watched<Data> {
  const ofClient = watched.get(client) ?? new Map<DocumentNode, unknown>();
  watched.set(client, ofClient);
  const one = (ofClient.get(query) as Watched<Data> | undefined) ?? watch(client, query, fetchPolicy);
  ofClient.set(query, one);
  return one;
}

function watch<Data>(
  client: ApolloClient,
  query: Query<Data>,
  fetchPolicy: WatchQueryFetchPolicy,
): Watched<Data> {
  const observable = client.watchQuery<Data>({ query, fetchPolicy });
  const listeners = new Set<() => void>();
  let known: Answer<Data> = {};
  let watching: { readonly unsubscribe: () => void } | null = null;
  const take = ({ data, error }: Answer<Data>) => {
    if (data === known.data && error === known.error) return;
    known = { data, error };
    // What is drawn for it has a turn of the event loop of its own: the client has just written the answer to its cache.
    setTimeout(() => {
      for (const listener of listeners) listener();
    });
  };
  return {
    answer: () => known,
    listen(listener) {
      listeners.add(listener);
      watching ??= observable.subscribe((result) => take(result as Answer<Data>));
      return () => listeners.delete(listener);
    },
    change: (change) => known.data !== undefined && take({ data: change(known.data) }),
    end: () => watching?.unsubscribe(),
  };
}

/** The answer to a query without variables, shared by every component that asks. */
export function useSharedQuery<Data>(
  query: Query<Data>,
  fetchPolicy: WatchQueryFetchPolicy = 'cache-first',
): Answer<Data> {
  const { listen, answer } = watchOnce(useApolloClient(), query, fetchPolicy);
  return useSyncExternalStore(listen, answer);
}

/** Prepares the question who this is, which everything that is drawn has; what is returned asks it, in a turn of its own. */
export function prepareCaller(client: ApolloClient): () => void {
  const { listen } = watchOnce(client, CallerDocument, 'cache-first');
  return () => void listen(() => undefined);
}

/**
 * Every model that can be asked and those that have ended, kept as they came: a cache that takes each field of hundreds of
 * models apart and puts them together again blocks the page for longer than everything else that it does.
 */
export function useModels(): Answer<ModelsQuery> {
  return useSharedQuery(ModelsDocument, 'no-cache');
}

/** Adds a model that the list of the server does not have. */
export function addModel(client: ApolloClient, model: ModelsQuery['models'][number]): void {
  watchOnce(client, ModelsDocument, 'no-cache').change(({ models }) => ({
    models: models.some(({ id }) => id === model.id) ? models : [...models, model],
  }));
}
