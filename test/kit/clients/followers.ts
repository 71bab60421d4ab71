import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { EventSource } from 'eventsource';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

import { toError } from '../../../platform/errors.ts';

/**
 * The three clients that people use to follow a task, unchanged from their packages: graphql-ws, EventSource, and Apollo
 * Client over multipart. Each notes what it gets in the order it comes.
 */

/** One delivered entry of a task's log, with what is joined to it from the other subgraph. */
export interface Progress {
  readonly seq: number;
  readonly state: string;
  readonly stage: string;
  readonly progress: number;
  readonly task: {
    readonly id: string;
    readonly state: string;
    readonly outputs: readonly { readonly url: string }[];
    readonly execution: { readonly id: string; readonly template: { readonly name: string } } | null;
  };
}

/** Somebody who follows one task. */
interface Follower {
  /** Everything that came, in its order. */
  readonly events: Progress[];
  /** Resolves when it is over: null when the server said so, else what broke it. */
  readonly over: Promise<Error | null>;
  /** Leaves as the client's own package does. */
  leave(): void;
}

export interface FollowRequest {
  readonly taskId: string;
  /** Seq of the last entry already seen. */
  readonly afterSeq?: number | undefined;
  /** Where to note what comes; absent means a list of its own. */
  readonly into?: Progress[];
}

/** Starts following at a Kiln's address. */
export type Follow = (url: string, request: FollowRequest) => Follower;

/** What all three ask: the live entry, the stored outputs, and the execution and template of the workflow subgraph. */
export const FOLLOW = `subscription Follow($id: ID!, $afterSeq: Int) {
  taskProgress(id: $id, afterSeq: $afterSeq) {
    seq
    state
    stage
    progress
    task { id state outputs { url } execution { id template { name } } }
  }
}`;

/** Each protocol by its name. EventSource comes back by itself after a break; the others end with the reason. */
export const followers: Readonly<Record<'graphql-ws' | 'EventSource' | 'Apollo Client', Follow>> = {
  'graphql-ws': followByWebSocket,
  EventSource: followByEventSource,
  'Apollo Client': followByMultipart,
};

interface Result {
  readonly data?: { readonly taskProgress: Progress } | null | undefined;
  readonly errors?: readonly { readonly message: string; readonly extensions?: object }[];
}

function followByWebSocket(url: string, request: FollowRequest): Follower {
  const { events, over, note, settle } = notebook(request);
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  const unsubscribe = client.subscribe<Result['data']>(
    { query: FOLLOW, variables: toVariables(request) },
    {
      next: (result) => take(result as Result, note, settle),
      error: (thrown) => settle(closedBy(thrown)),
      complete: () => settle(null),
    },
  );
  void over.then(() => client.dispose());
  return { events, over, leave: unsubscribe };
}

function followByEventSource(url: string, request: FollowRequest): Follower {
  const { events, over, note, settle } = notebook(request);
  const search = new URLSearchParams({ query: FOLLOW, variables: JSON.stringify(toVariables(request)) });
  const source = new EventSource(`${url}/graphql?${search.toString()}`);
  let refusal: Error | null = null;
  source.addEventListener('next', ({ data }) => {
    refusal = null;
    const result = JSON.parse(String(data)) as Result;
    // Errors that are followed by the end are a refusal; after others the source comes back by itself.
    take(result, note, (reason) => (refusal = reason));
  });
  source.addEventListener('complete', () => settle(refusal));
  source.addEventListener('error', ({ message, code }) => {
    if (source.readyState === source.CLOSED) settle(new Error(message ?? `status ${String(code)}`));
  });
  void over.then(() => source.close());
  return { events, over, leave: () => settle(null) };
}

function followByMultipart(url: string, request: FollowRequest): Follower {
  const { events, over, note, settle } = notebook(request);
  const client = new ApolloClient({
    link: new HttpLink({ uri: `${url}/graphql` }),
    cache: new InMemoryCache(),
  });
  const subscription = client
    .subscribe<NonNullable<Result['data']>>({
      query: gql(FOLLOW),
      variables: toVariables(request),
      fetchPolicy: 'no-cache',
    })
    .subscribe({
      next({ data, error }) {
        if (error !== undefined) settle(toError(error));
        else if (data) note(data.taskProgress);
      },
      error: (thrown: unknown) => settle(toError(thrown)),
      complete: () => settle(null),
    });
  void over.then(() => {
    subscription.unsubscribe();
    client.stop();
  });
  return { events, over, leave: () => settle(null) };
}

/** What a follower notes. Once it is over nothing more is noted: entries after one that failed would leave a gap. */
function notebook({ into = [] }: FollowRequest) {
  const { promise: over, resolve } = Promise.withResolvers<Error | null>();
  let isOver = false;
  return {
    events: into,
    over,
    note: (event: Progress) => void (isOver || into.push(event)),
    settle: (reason: Error | null): void => {
      isOver = true;
      resolve(reason);
    },
  };
}

function toVariables({ taskId, afterSeq }: FollowRequest): { id: string; afterSeq?: number } {
  return { id: taskId, ...(afterSeq === undefined ? {} : { afterSeq }) };
}

function take(
  { data, errors }: Result,
  note: (event: Progress) => void,
  settle: (reason: Error) => void,
): void {
  if (errors !== undefined) settle(new Error(errors.map(({ message }) => message).join('; ')));
  else if (data) note(data.taskProgress);
}

/** The package hands out close events and lists of GraphQL errors as they are. */
function closedBy(thrown: unknown): Error {
  if (Array.isArray(thrown)) return new Error(JSON.stringify(thrown));
  if (typeof thrown === 'object' && thrown !== null && 'code' in thrown) {
    return new Error(`closed with code ${String(thrown.code)}`);
  }
  return toError(thrown);
}
