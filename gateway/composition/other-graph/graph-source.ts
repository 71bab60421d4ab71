import { readFile } from 'node:fs/promises';

import { readGatewayFileAgain } from '../../../platform/config/config.ts';
import type { ProcessParts } from '../../../platform/runtime/run-process.ts';
import type { GatewayFile } from '../../configuration/gateway-file.schema.ts';
import { readGatewayFile } from '../../configuration/gateway-file.ts';
import { subgraphNames } from '../../federation/links-from-supergraph.ts';
import { composeFromFile } from './compose.ts';

/** What the files say now. */
interface GraphFiles {
  readonly supergraphSdl: string;
  /** Absent without `--config`. */
  readonly file: GatewayFile | undefined;
}

/** Where another graph comes from: `--supergraph` or `--subgraphs`, and `--config`. */
export interface GraphSource {
  /** Reads and composes them. Throws with what is wrong. */
  read(): Promise<GraphFiles>;
  /** The files that it was last read from. */
  files(): readonly string[];
}

/** Makes the source of the files that the command line names. */
export function createGraphSource({ config, logger }: ProcessParts): GraphSource {
  const { supergraphFile, subgraphsFile } = config.split;
  const configFile = config.gatewayFile?.path ?? null;
  const named = [supergraphFile, subgraphsFile, configFile].filter((file) => file !== null);
  let schemas: readonly string[] = [];

  async function readSupergraph(): Promise<string> {
    if (supergraphFile !== null) return await readFile(supergraphFile, 'utf8');
    const composed = await composeFromFile(subgraphsFile ?? '', logger);
    schemas = composed.files;
    return composed.supergraphSdl;
  }
  return {
    files: () => [...named, ...schemas],
    async read() {
      const supergraphSdl = await readSupergraph();
      const text = readGatewayFileAgain(configFile);
      const file = text === null ? undefined : readGatewayFile(text, subgraphNames(supergraphSdl));
      return { supergraphSdl, file };
    },
  };
}
