import packageJson from '../../package.json' with { type: 'json' };
import type { Runtime } from '../../platform/runtime/runtime.ts';
import { mediaDatabase } from './database/database.ts';
import { createAnyModels } from './generators/any-model/any-models.ts';
import { withBatches } from './generators/bindings/batched.ts';
import { createGeneratorRegistry } from './generators/bindings/registry.ts';
import { createBreakers } from './generators/breakers/breakers.ts';
import { createCatalog } from './generators/catalog/catalog.ts';
import { bundledBindings, type BundledOptions } from './generators/configuration/bundled-bindings.ts';
import { withGeneratorsFile } from './generators/configuration/generators-file.ts';
import { createCredentialRefusals } from './generators/credentials/refusals.ts';
import { createMachines } from './generators/machines/machines.ts';
import { createPauses } from './generators/pauses/pauses.ts';
import { readPriceList, withPrices } from './generators/prices/price-list.ts';
import { createProviders } from './providers/registry.ts';
import { createMediaSubgraph, type MediaSubgraph } from './subgraph.ts';

/** What composing needs besides the settings. */
export interface ComposeMediaOptions {
  /** Base URLs of the sandbox's stand-ins; null without a sandbox. */
  readonly sandboxUrls: BundledOptions['sandboxUrls'];
  /** Address that callers use, without a trailing slash. */
  readonly publicUrl: string;
  /** The same for processes of this machine; PUBLIC_URL when absent. */
  readonly localUrl?: string;
  /** Signs expiring file addresses; the same in every process and after a restart. */
  readonly fileSecret: string;
  /** Signs result webhooks: `whsec_` and base64 (webhookSecret of platform/secrets/secrets.ts). */
  readonly webhookSecret: string;
}

/**
 * The media subgraph as the settings configure it: real providers where they are configured, the sandbox elsewhere.
 * Throws NOT_CONFIGURED with every mistake of GENERATORS_FILE, CATALOG_FILE or PRICES_FILE.
 */
export function composeMedia(runtime: Runtime, options: ComposeMediaOptions): MediaSubgraph {
  const { config, http } = runtime;
  const { sandboxUrls, publicUrl, localUrl, fileSecret, webhookSecret } = options;
  const providers = createProviders({ http });
  const { catalogFile, catalogDate, generatorsFile: file, pricesFile, anyModel: allowed } = config.providers;
  const catalog = createCatalog({ file: catalogFile, date: catalogDate });
  const bundled = bundledBindings({ sandboxUrls, settings: config.providers, providers, catalog });
  const bindings = file === null ? bundled : withGeneratorsFile(bundled, { file, providers, catalog });
  const refusals = createCredentialRefusals(runtime);
  const breakers = createBreakers(runtime);
  const database = mediaDatabase(runtime.database);
  const pauses = createPauses({ ...runtime, database });
  const machines = createMachines({ ...runtime, database });
  const anyModels = createAnyModels({ ...runtime, database, allowed });
  const priced = withBatches(withPrices(bindings.bindings, readPriceList(pricesFile, catalog)));
  return createMediaSubgraph({
    ...runtime,
    logger: runtime.logger.part('media'),
    refusals,
    breakers,
    bindingPauses: pauses,
    machines,
    anyModels,
    registry: createGeneratorRegistry({
      ...bindings,
      bindings: anyModels.watch(machines.watch(pauses.watch(breakers.watch(refusals.watch(priced))))),
    }),
    authMode: config.auth.mode,
    version: packageJson.version,
    files: {
      publicUrl,
      ...(localUrl !== undefined && { localUrl }),
      cdnBaseUrl: config.files.cdnBaseUrl,
      urlTtlSeconds: config.files.urlTtlSeconds,
      ffmpeg: config.files.ffmpeg,
      secret: fileSecret,
      retentionDays: config.files.mediaRetentionDays,
      anonymousDays: config.files.anonymousDays,
      shareLimit: config.files.shareLimit,
      anyoneDeletes: config.auth.mode === 'open' && config.server.isLoopback,
    },
    uploadMaxBytes: config.limits.uploadMaxBytes,
    uploadQuotas: config.limits.uploadQuotas,
    eventRetentionDays: config.files.eventRetentionDays,
    taskRetentionDays: config.files.taskRetentionDays,
    promptRetentionDays: config.files.promptRetentionDays,
    queueMaxHours: config.limits.queueMaxHours,
    workerSlots: config.limits.workerSlots,
    webhookSecret,
  });
}
