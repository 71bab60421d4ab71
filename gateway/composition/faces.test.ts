import { readFileSync } from 'node:fs';

import { buildSchema, printSchema } from 'graphql';
import { expect, it } from 'vitest';

import { comfyStyle } from '../../faces/comfy/failures.ts';
import { openaiStyle } from '../../faces/openai/answers/failures.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { responseStyleAt, sections } from '../../rest-compat/tables.ts';
import { createPlanner } from '../federation/plans.ts';
import { composeFaces, forRest, locateFaces, sectionsThatFit } from './faces.ts';

const supergraph = readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8');
const { apiSchema } = createPlanner(supergraph, {});

/** How many problems were named of each service that is off, and how many more there are. */
const named: (readonly number[])[] = [];

/** The services that are served, and those that are said to be off. */
function servedWithout(...fields: readonly string[]) {
  const schema = buildSchema(printSchema(apiSchema));
  for (const field of fields) delete schema.getMutationType()?.getFields()[field];
  const off: unknown[] = [];
  const warn = (said: object | string) => {
    const { service, problems, more } = said as {
      service: string;
      problems: readonly string[];
      more: number;
    };
    off.push(service);
    named.push([problems.length, more]);
  };
  const served = sectionsThatFit(schema, { ...silentLogger(), warn });
  return { served: [...new Set(served.map(({ service }) => service))], off, count: served.length };
}

const mutations = Object.keys(apiSchema.getMutationType()?.getFields() ?? {}).slice(1);

it('serves of a foreign supergraph the services whose documents all fit it', () => {
  expect(servedWithout()).toEqual({ served: ['media', 'workflow'], off: [], count: sections.length });
  expect(servedWithout('chat')).toMatchObject({ served: ['workflow'], off: ['media'] });
  expect(named.splice(0)).toEqual([[1, 0]]);
  expect(servedWithout('checkout')).toMatchObject({ served: ['media'], off: ['workflow'] });
  expect(servedWithout('chat', 'checkout')).toMatchObject({ served: [], off: ['media', 'workflow'] });
  named.length = 0;
  servedWithout(...mutations);
  expect(named.map(([told, more = 0]) => [told, more > 0])).toEqual([
    [3, true],
    [3, true],
  ]);
});

const settings = { prefix: '/v1', aliases: {}, waitSeconds: 1, batchConcurrency: 1, batchFlex: false };

/** The faces over a graph without these mutations. */
function facesOver(changes: object = {}, missing: readonly string[] = [], files: object | null = {}) {
  const schema = buildSchema(printSchema(apiSchema));
  for (const field of missing) delete schema.getMutationType()?.getFields()[field];
  const config = {
    openaiFace: settings,
    comfyApi: true,
    split: { isOtherGraph: true },
    auth: { mode: 'open' },
    limits: { uploadMaxBytes: 1 },
    files: { urlTtlSeconds: 0, taskRetentionDays: 0 },
    ...changes,
  };
  const parts = { config, logger: silentLogger(), lifecycle: { add: () => undefined } } as never;
  const stopping = new AbortController().signal;
  const federation = { apiSchema: () => schema, execute: async () => ({}), subscribe: async () => ({}) };
  const faces = composeFaces(parts, {
    publicUrl: 'http://kiln.test',
    federation: federation as never,
    rateLimiter: undefined,
    stopping,
    links: {},
    files: (files ?? undefined) as never,
    openFile: files === null ? undefined : async () => null,
  });
  return { faces, config, on: [faces.openai !== undefined, faces.comfy !== undefined] };
}

it('serves other APIs where they are on and the graph has what they ask for, also a foreign one', () => {
  expect(facesOver().on).toEqual([true, true]);
  expect(facesOver({ openaiFace: null }).on).toEqual([false, true]);
  expect(facesOver({ comfyApi: false }).on).toEqual([true, false]);
  expect(facesOver({}, mutations).on).toEqual([false, false]);
  expect(facesOver({}, [], null).on).toEqual([false, false]);
});

it('says where they are, and in whose words what fails there is answered', () => {
  const findStyle = ({ faces, config }: ReturnType<typeof facesOver>, path: string) =>
    locateFaces(config as never, faces).styleAt(path);
  const [both, none] = [facesOver(), facesOver({ openaiFace: null, comfyApi: false })];
  const listFolders = ({ faces, config }: ReturnType<typeof facesOver>) =>
    locateFaces(config as never, faces).restFolders;
  expect([listFolders(both), listFolders(none)]).toEqual([['/api', '/v1'], ['/api']]);
  const paths = ['/v1/images', '/api/v2/jobs', '/v1', '/api/other'];
  const usual = paths.map((path) => responseStyleAt(path));
  expect(paths.map((path) => findStyle(both, path))).toEqual([openaiStyle, comfyStyle, usual[2], usual[3]]);
  expect(paths.map((path) => findStyle(none, path))).toEqual(usual);
});

it('marks what REST paths ask as such', async () => {
  const seen: unknown[] = [];
  const note = async (request: object): Promise<never> => {
    seen.push(request);
    return {} as never;
  };
  const executor = forRest({ execute: note, subscribe: note });
  await executor.execute({ query: 'a' } as never);
  await executor.subscribe({ query: 'b' } as never);
  expect(seen).toEqual([
    { query: 'a', transport: 'rest' },
    { query: 'b', transport: 'rest' },
  ]);
});
