import { createCatalog } from '../../subgraphs/media/generators/catalog/catalog.ts';
import type { CatalogEntry } from '../../subgraphs/media/generators/catalog/entry.ts';
import type { Provider, StartContext } from '../../subgraphs/media/providers/contract/provider.ts';
import { REFERENCE, type ContractRow } from '../../test/providers/contract/row.ts';
import { makeContext, type Environment } from '../../test/providers/environment/environment.ts';
import type { SentRequest } from '../../test/providers/environment/recording-proxy.ts';
import { sampleOptions } from './samples.ts';

/** A request that an adapter sent, and what it was sent for. */
export interface Recorded extends SentRequest {
  readonly provider: string;
  readonly model: string;
  /** The options among it, as JSON; empty: none. */
  readonly options: string;
}

/** Starts every work of a row for each model that does it, plain and with each value of its options; answers what was sent. */
export async function record(world: Environment, row: ContractRow): Promise<readonly Recorded[]> {
  const recorded: Recorded[] = [];
  const models = createCatalog()
    .listModels(row.provider)
    .filter(({ retiresAt }) => retiresAt === null);
  for (const model of models) {
    for (const options of [{}, ...sampleOptions(model)]) {
      await world.reset();
      await startAll(world, row, { model, options });
      const facts = { provider: row.provider, model: model.id, options: optionsText(options) };
      recorded.push(
        ...world.proxy.sent.map((sent) => ({ ...sent, path: withoutBase(sent.path, row), ...facts })),
      );
    }
  }
  return recorded;
}

interface Trial {
  readonly model: CatalogEntry;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Whatever a model refuses sends nothing, and is no difference. */
async function startAll(world: Environment, row: ContractRow, { model, options }: Trial): Promise<void> {
  const provider = world.providers[row.provider];
  if (provider === undefined) return;
  const contextAt = (basePath: string) => {
    const connection = { ...world.connection(basePath, row.headers, row), model: model.id };
    return { ...makeContext(connection), reference: REFERENCE };
  };
  const asked = withOptions(provider, model, options);
  for (const job of row.jobs.filter(({ kind }) => model.kinds.includes(kind))) {
    const request = typeof job.request === 'function' ? await job.request(world) : job.request;
    await asked.jobs?.[job.kind]
      ?.start(request as never, contextAt(job.basePath ?? row.basePath))
      .catch(() => undefined);
  }
  for (const short of row.short) {
    await short.run(asked, contextAt(row.basePath)).catch(() => undefined);
  }
}

/** What a provider does with this model, and every request of it has these options. */
function withOptions(
  provider: Provider,
  { kinds }: CatalogEntry,
  options: Readonly<Record<string, unknown>>,
): Provider {
  const jobs = Object.entries(provider.jobs ?? {}).map(([kind, job]) => [
    kind,
    {
      ...job,
      start: (request: object, context: never) => job.start({ ...request, options } as never, context),
    },
  ]);
  const does = Object.entries(provider.calls ?? {}).filter(([kind]) => kinds.includes(kind));
  const calls = does.map(([kind, call]) => [
    kind,
    {
      ...call,
      call: async (request: object, context: StartContext) => {
        const asked = { ...request, options };
        const problems = provider.inputProblems?.(asked as never, context.connection) ?? [];
        if (problems.length > 0) throw new Error('refused before it is sent');
        return call.call(asked as never, context);
      },
    },
  ]);
  const { chat, chatStream: _streamed, ...rest } = provider;
  return {
    ...rest,
    jobs: Object.fromEntries(jobs) as NonNullable<Provider['jobs']>,
    calls: Object.fromEntries(calls) as NonNullable<Provider['calls']>,
    ...(kinds.includes('CHAT') &&
      chat && { chat: (request, context) => chat({ ...request, options } as never, context) }),
  };
}

function withoutBase(path: string, { basePath }: ContractRow): string {
  return path.startsWith(basePath) ? path.slice(basePath.length) : path;
}

function optionsText(options: object): string {
  return Object.keys(options).length === 0 ? '' : JSON.stringify(options);
}
