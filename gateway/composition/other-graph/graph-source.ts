import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { Supergraph } from '@apollo/federation-internals';
import { parse } from 'graphql';
import { request } from 'undici';
import { z } from 'zod';

import { readCheckedFile, reportIssue } from '../../../platform/config/checked-file.ts';
import { readGatewayFileAgain } from '../../../platform/config/config.ts';
import { parseYamlWithLines } from '../../../platform/config/parse-with-lines.ts';
import { AppError, toError } from '../../../platform/errors.ts';
import type { SubgraphLink } from '../../../platform/graphql/operations/subgraph.ts';
import { parseJson } from '../../../platform/json.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { ProcessParts } from '../../../platform/runtime/run-process.ts';
import type { GatewayFile } from '../../configuration/gateway-file.schema.ts';
import { readGatewayFile } from '../../configuration/gateway-file.ts';

/** What the files say now. */
interface GraphFiles {
  readonly supergraphSdl: string;
  /** Absent without `--config`. */
  readonly file: GatewayFile | undefined;
}

/** Where another graph comes from: `--supergraph` or `--subgraphs`, and `--config`. */
export type GraphSource = ReturnType<typeof createGraphSource>;

/** Makes the source of the files that the command line names. */
export function createGraphSource({ config, logger }: ProcessParts) {
  const { supergraphFile, subgraphsFile } = config.split;
  const configFile = config.gatewayFile?.path ?? null;
  const named = [supergraphFile, subgraphsFile, configFile].filter((file) => file !== null);
  /** The files that it was last read from, or was to be: each as it was before, so that what changes since is noticed. */
  let states: FileStates = new Map();

  async function readSupergraph(): Promise<string> {
    if (supergraphFile !== null) return await readFile(supergraphFile, 'utf8');
    const subgraphs = await readSubgraphsFile(subgraphsFile ?? '');
    const schemas = subgraphs.flatMap(({ schema }) => schema ?? []);
    states = new Map([...states, ...(await readStates(schemas))]);
    return await compose(subgraphs, logger);
  }
  return {
    /** What has changed of the files since they were last read, as a text that is another one when more changes; null: nothing. */
    async change(): Promise<string | null> {
      const now = await readStates([...states.keys()]);
      const changed = [...now].filter(([file, state]) => state !== states.get(file));
      return changed.length === 0 ? null : changed.map((one) => one.join(' ')).join('\n');
    },
    /** Reads and composes them. Throws with what is wrong. */
    async read(): Promise<GraphFiles> {
      states = await readStates(named);
      const supergraphSdl = await readSupergraph();
      const text = readGatewayFileAgain(configFile);
      const file = text === null ? undefined : readGatewayFile(text, subgraphNames(supergraphSdl));
      return { supergraphSdl, file };
    },
  };
}

/** Files, and what is another text with any change of one. */
type FileStates = ReadonlyMap<string, string>;

async function readStates(files: readonly string[]): Promise<FileStates> {
  const states = files.map(async (file) => {
    const found = await stat(file).catch(() => null);
    return [file, found === null ? 'away' : `${found.mtimeMs} ${found.size} ${found.ino}`] as const;
  });
  return new Map(await Promise.all(states));
}

const remedy = (message: string) => ({ error: () => message });

/** The form of `--subgraphs FILE`. */
const subgraphsFileSchema = z.strictObject(
  {
    subgraphs: z.record(
      z.string(),
      z.strictObject({
        url: z
          .string(remedy('must be the address of its GraphQL'))
          .refine(
            (url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ''),
            remedy('must begin with http:// or https://'),
          ),
        schema: z.string(remedy('must be the path of a file, from this file')).optional(),
      }),
      remedy('must be an object: name of a subgraph -> { url, schema }'),
    ),
  },
  remedy('must be an object with subgraphs'),
);

/** Milliseconds and bytes of an answer with a subgraph's schema. */
const SCHEMA_MS = 10_000;
const MAX_SCHEMA_BYTES = 10_000_000;

/** A subgraph that the file names. */
interface NamedSubgraph {
  readonly name: string;
  readonly url: string;
  /** The file of its schema; absent: it is asked for it. */
  readonly schema: string | undefined;
}

/** Reads `--subgraphs FILE`. Throws NOT_CONFIGURED with every mistake. */
async function readSubgraphsFile(file: string): Promise<readonly NamedSubgraph[]> {
  const text = await readFile(file, 'utf8');
  const { subgraphs } = readCheckedFile(
    { setting: '--subgraphs', path: file, text, parse: parseYamlWithLines },
    ({ value }, report) => {
      const { data, error } = subgraphsFileSchema.safeParse(value);
      for (const issue of error?.issues ?? [])
        reportIssue(issue, report, issue.path.length > 1 ? 'a subgraph' : 'the file');
      return data ?? { subgraphs: {} };
    },
  );
  return Object.entries(subgraphs).map(([name, { url, schema }]) => ({
    name,
    url,
    schema: schema && path.resolve(path.dirname(file), schema),
  }));
}

/**
 * Composes a supergraph of subgraphs whose schemas are files, or are asked for at their addresses (`_service { sdl }`).
 * Throws NOT_CONFIGURED with what does not compose.
 */
async function compose(subgraphs: readonly NamedSubgraph[], logger: Logger): Promise<string> {
  const services = await Promise.all(
    subgraphs.map(async ({ name, url, schema }) => {
      try {
        const text = await (schema === undefined ? askForSchema(url) : readFile(schema, 'utf8'));
        return { name, url, typeDefs: parse(text) };
      } catch (thrown) {
        throw new AppError(
          'NOT_CONFIGURED',
          `--subgraphs: the schema of ${name}: ${toError(thrown).message}`,
          {
            cause: thrown,
          },
        );
      }
    }),
  );
  // Loaded only when needed: 100 ms.
  const { composeServices } = await import('@apollo/composition');
  const { errors, supergraphSdl, hints } = composeServices(services);
  if (supergraphSdl === undefined) {
    const lines = (errors ?? []).map(({ message }) => `  ${message}`);
    throw new AppError('NOT_CONFIGURED', `--subgraphs: they do not compose\n${lines.join('\n')}`);
  }
  for (const { message } of hints) logger.debug({ hint: message }, 'a hint of the composition');
  return supergraphSdl;
}

async function askForSchema(url: string): Promise<string> {
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: '{ _service { sdl } }' }),
    signal: AbortSignal.timeout(SCHEMA_MS),
    headersTimeout: SCHEMA_MS,
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_SCHEMA_BYTES) throw new Error(`its answer has more than ${MAX_SCHEMA_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  const answer = parseJson(Buffer.concat(chunks).toString()) as
    | {
        readonly data?: { readonly _service?: { readonly sdl?: unknown } };
      }
    | undefined;
  const sdl = answer?.data?._service?.sdl;
  if (typeof sdl !== 'string') throw new Error(`${url} answers HTTP ${statusCode} without _service { sdl }`);
  return sdl;
}

/**
 * Makes the links of any Federation 2 supergraph from the routing URLs in its SDL (join__Graph), for a supergraph that
 * is not Kiln's own. Fails when a subgraph has no URL.
 */
export function linksFromSupergraph(
  supergraphSdl: string,
  makeLink: (subgraph: { readonly name: string; readonly url: string }) => SubgraphLink,
): Record<string, SubgraphLink> {
  const subgraphs = build(supergraphSdl).subgraphsMetadata();
  const withoutUrl = subgraphs.filter(({ url }) => !URL.canParse(url));
  if (withoutUrl.length > 0) {
    throw new Error(
      `the supergraph names no URL for the subgraphs ${withoutUrl.map(({ name }) => name).join(', ')}`,
    );
  }
  return Object.fromEntries(subgraphs.map(({ name, url }) => [name, makeLink({ name, url })]));
}

function subgraphNames(supergraphSdl: string): readonly string[] {
  return build(supergraphSdl)
    .subgraphsMetadata()
    .map(({ name }) => name);
}

/** What it uses is checked where its planner is made. */
function build(supergraphSdl: string): Supergraph {
  return Supergraph.build(supergraphSdl, { supportedFeatures: null });
}
