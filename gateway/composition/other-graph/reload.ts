import { setImmediate as endOfTurn } from 'node:timers/promises';

import { AppError, toError } from '../../../platform/errors.ts';
import type { SubgraphLink } from '../../../platform/graphql/operations/subgraph.ts';
import { createLoop } from '../../../platform/process/loop.ts';
import type { ProcessParts } from '../../../platform/runtime/run-process.ts';
import type { GatewayFile } from '../../configuration/gateway-file.schema.ts';
import type { FederatedExecutor } from '../../federation/federation.ts';
import type { Graph } from '../../federation/replaceable.ts';
import type { GraphSource } from './graph-source.ts';
import type { LinkStore } from './links.ts';

interface Reloaded {
  readonly source: GraphSource;
  readonly links: LinkStore;
  readonly server: GraphServer;
}

/** What serves a graph, and another one in its place (public-server.ts). */
interface GraphServer {
  readonly federation: Pick<FederatedExecutor, 'planned'>;
  openGraph(files: {
    readonly supergraphSdl: string;
    readonly links: Readonly<Record<string, SubgraphLink>>;
    readonly file: GatewayFile | undefined;
    readonly linksRetired: () => void;
  }): Promise<Graph>;
  replaceGraph(graph: Graph): { readonly kept: number; readonly ended: number };
}

/** Milliseconds between two checks at the files; one that still changes is waited for. */
const POLL_INTERVAL_MS = 500;
/** Most operations that are planned over a new graph before it serves. */
const MAX_WARMED = 1_000;

/**
 * Serves what the files of a graph say when they change, and at SIGHUP. The new graph is checked and warmed beside the one that
 * serves; where it can't be used the old one stays.
 */
export function reloadOnChange(parts: ProcessParts, reloaded: Reloaded): void {
  const { logger, lifecycle } = parts;
  let seen: string | null = null;
  let isAsked = false;

  async function look(): Promise<void> {
    const change = await reloaded.source.change();
    const isSettled = change !== null && change === seen;
    seen = change;
    if (!isAsked && !isSettled) return;
    isAsked = false;
    try {
      const { kept, ended } = await reload(reloaded);
      logger.info({ subscriptions: { kept, ended } }, 'serves a new graph');
    } catch (thrown) {
      const reason = thrown instanceof AppError ? thrown.message : toError(thrown).message;
      logger.error({ reason }, 'the new graph is refused, the one before goes on');
    }
  }
  const loop = createLoop({ tick: look, everyMs: POLL_INTERVAL_MS, logger, name: 'reload' });
  const ask = (): void => {
    isAsked = true;
    loop.wake();
  };
  process.on('SIGHUP', ask);
  loop.start();
  lifecycle.add('reload', async () => {
    process.off('SIGHUP', ask);
    await loop.stop();
  });
}

async function reload({ source, links, server }: Reloaded) {
  const { supergraphSdl, file } = await source.read();
  const opened = links.open(supergraphSdl, file);
  try {
    const { links: own, close: linksRetired } = opened;
    const graph = await server.openGraph({ supergraphSdl, links: own, file, linksRetired });
    let left = MAX_WARMED;
    for (const { query, operationName } of Array.from(server.federation.planned())) {
      if (left-- === 0) break;
      // What is not valid any more is refused when somebody asks for it.
      await Promise.try(() => graph.federation.plan(query, operationName)).catch(() => undefined);
      await endOfTurn();
    }
    const outcome = server.replaceGraph(graph);
    links.serve(opened);
    return outcome;
  } catch (thrown) {
    opened.close();
    throw thrown;
  }
}
