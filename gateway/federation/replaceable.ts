import type { AnswerParts } from '../../platform/graphql/operations/answers.ts';
import type { Documents } from '../../platform/graphql/operations/documents.ts';
import { codedError } from '../../platform/graphql/operations/errors.ts';
import type { GraphqlRequest, ResultStream } from '../../platform/graphql/operations/executor.ts';
import { isStream } from '../../platform/graphql/operations/streams.ts';
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import { type EndableStream, endable } from './ended-stream.ts';
import type { FederatedExecutor } from './federation.ts';
import { createServerGateway } from './server-gateway.ts';

/** A federation, and the links that it was made over. */
export interface Graph {
  readonly federation: FederatedExecutor;
  readonly supergraphSdl: string;
  /** Their owner's; the same object means the same way to the subgraph. */
  readonly links: Readonly<Record<string, SubgraphLink>>;
  /** Called once, when the graph was replaced and nothing runs over it any more. */
  readonly retired: () => void;
}

/** A federation whose graph can be replaced while it serves. */
export interface ReplaceableFederation extends FederatedExecutor {
  /**
   * Serves another graph from now on. What runs ends over the graph that it began with; a subscription goes on where its plan,
   * its types and its subgraphs are the same, others end with an error that tells to subscribe again.
   */
  replace(next: Graph): { readonly kept: number; readonly ended: number };
}

/** A graph and what runs over it. */
interface Served extends Graph {
  running: number;
  isReplaced: boolean;
  readonly streams: Set<RunningStream>;
}

interface RunningStream {
  readonly request: GraphqlRequest;
  readonly endWith: ReturnType<typeof endable>['endWith'];
}

/** As Apollo Router says it. */
const COME_BACK = codedError('SUBSCRIPTION_SCHEMA_RELOAD', 'the graph has changed: subscribe again');

/** Makes it over a first graph. */
export function createReplaceableFederation(first: Graph): ReplaceableFederation {
  let current = serve(first);
  const before = new Set<Served>();
  const left = (graph: Served): void => {
    if (!graph.isReplaced || graph.running > 0 || graph.streams.size > 0 || !before.delete(graph)) return;
    void graph.federation.close();
    graph.retired();
  };
  const { execute, executeInParts } = countedRequests(() => current, left);
  const subscribe: ReplaceableFederation['subscribe'] = async (request) => {
    const graph = current;
    graph.running += 1;
    try {
      const outcome = await graph.federation.subscribe(request);
      if (!isStream(outcome)) return outcome;
      const running = keepStream(graph, { request, outcome, left });
      // It was replaced while the subgraph was asked.
      if (graph.isReplaced && !goesOn(graph, current, request)) running.endWith({ errors: [COME_BACK] });
      return running.stream;
    } finally {
      graph.running -= 1;
      left(graph);
    }
  };
  const { gateway, update } = createServerGateway(
    () => ({ apiSchema: current.federation.apiSchema(), supergraphSdl: current.supergraphSdl }),
    { execute },
  );
  return {
    gateway,
    execute,
    executeInParts,
    subscribe,
    apiSchema: () => current.federation.apiSchema(),
    documents: delegateDocuments(() => current.federation.documents),
    plan: (query, operationName) => current.federation.plan(query, operationName),
    planned: () => current.federation.planned(),
    outline: (planned) => current.federation.outline(planned),
    replace(next) {
      const replaced = current;
      current = serve(next);
      before.add(replaced);
      replaced.isReplaced = true;
      const outcome = endChanged(before, current);
      for (const graph of before) left(graph);
      update();
      return outcome;
    },
    async close() {
      await Promise.all([current, ...before].map(({ federation }) => federation.close()));
    },
  };
}

/** Queries and mutations over the graph that serves when they come, which is kept until they end. */
function countedRequests(
  current: () => Served,
  left: (graph: Served) => void,
): Pick<FederatedExecutor, 'execute' | 'executeInParts'> {
  const enter = () => {
    const graph = current();
    graph.running += 1;
    const ended = (): void => {
      graph.running -= 1;
      left(graph);
    };
    return { federation: graph.federation, ended };
  };
  return {
    async execute(request) {
      const { federation, ended } = enter();
      try {
        return await federation.execute(request);
      } finally {
        ended();
      }
    },
    async executeInParts(request) {
      const { federation, ended } = enter();
      const outcome = await federation.executeInParts(request);
      if ('next' in outcome) return afterParts(outcome, ended);
      ended();
      return outcome;
    },
  };
}

/** Calls when the parts have ended, or when who reads them has left. */
async function* afterParts(parts: AnswerParts, ended: () => void): AnswerParts {
  try {
    yield* parts;
  } finally {
    ended();
  }
}

/** Ends the streams of graphs that were replaced, but those which are the same over the new one. */
function endChanged(before: ReadonlySet<Served>, current: Served) {
  const running = [...before].flatMap((graph) => [...graph.streams].map((stream) => ({ graph, stream })));
  let kept = 0;
  for (const { graph, stream } of running) {
    if (goesOn(graph, current, stream.request)) kept += 1;
    else stream.endWith({ errors: [COME_BACK] });
  }
  return { kept, ended: running.length - kept };
}

/** Keeps a stream among those of its graph, until it ends. */
function keepStream(
  graph: Served,
  {
    request,
    outcome,
    left,
  }: {
    readonly request: GraphqlRequest;
    readonly outcome: ResultStream;
    readonly left: (graph: Served) => void;
  },
): EndableStream {
  const made = endable(outcome, () => {
    graph.streams.delete(running);
    left(graph);
  });
  const running: RunningStream = { request, endWith: made.endWith };
  graph.streams.add(running);
  return made;
}

/** The documents of the graph that serves now. */
function delegateDocuments(current: () => Documents): Documents {
  return {
    prepare: (query) => current().prepare(query),
    known: (query, parsed) => current().known(query, parsed),
    add: (query, document, rules) => current().add(query, document, rules),
    all: () => current().all(),
    get bytes() {
      return current().bytes;
    },
  };
}

function serve(graph: Graph): Served {
  return { ...graph, running: 0, isReplaced: false, streams: new Set() };
}

function goesOn(graph: Served, next: Served, { query, operationName }: GraphqlRequest): boolean {
  try {
    const was = graph.federation.outline({ query, operationName });
    const is = next.federation.outline({ query, operationName });
    if (was === null || is === null || was.text !== is.text) return false;
    return was.subgraphs.every((name) => graph.links[name] === next.links[name]);
  } catch {
    // It can't be planned any more.
    return false;
  }
}
