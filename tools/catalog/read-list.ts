import { z } from 'zod';

import type { HttpClient } from '../../platform/http/http-client.ts';
import type { Connection } from '../../subgraphs/media/providers/contract/provider.ts';

/** A model as its vendor lists it; what the list does not say is absent. */
export interface VendorModel {
  readonly id: string;
  /** The first day on which the vendor refuses it, YYYY-MM-DD; null: none is announced; absent: the list does not say. */
  readonly retiresAt?: string | null;
  /** Whether the vendor says that it has ended. */
  readonly isRetired?: boolean;
  /** US dollars for an image or a second. */
  readonly price?: { readonly unit: 'picture' | 'second'; readonly amount: number };
  /** Names of what its input may hold. */
  readonly options?: readonly string[];
}

/** What a vendor lists. */
export interface VendorList {
  readonly models: readonly VendorModel[];
  /** Whether every model of the vendor is in it: then one that is not there is not offered. */
  readonly isWhole: boolean;
}

interface Vendor {
  readonly http: Pick<HttpClient, 'request'>;
  readonly connection: Connection;
  /** The models that are asked for one by one, where the vendor has too many for a list. */
  readonly ids: readonly string[];
}

type Read = (vendor: Vendor) => Promise<VendorList>;

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 32 << 20;
/** Most pages of a list. */
const MAX_PAGES = 50;
/** Models that are asked for at once. */
const ASKED_AT_ONCE = 50;

const READERS: Readonly<Record<string, Read>> = {
  openai: (vendor) => readOpenai(vendor, '/models'),
  'openai-compatible': (vendor) => readOpenai(vendor, '/models'),
  minimax: (vendor) => readOpenai(vendor, '/v1/models'),
  gemini: readGemini,
  fal: readFal,
  replicate: readReplicate,
};

/** The vendor's own list over a binding's connection; null where this wire has none. Throws when it can't be read. */
export async function readVendorList(provider: string, vendor: Vendor): Promise<VendorList | null> {
  const read = Object.hasOwn(READERS, provider) ? READERS[provider] : undefined;
  return read === undefined ? null : read(vendor);
}

/** The body of a GET; null for 404. */
async function get(
  { http, connection }: Vendor,
  path: string,
  baseUrl = `${connection.baseUrl}${connection.pathPrefix}`,
): Promise<unknown> {
  const url = `${baseUrl.replace(/\/+$/, '')}${path}`;
  const { status, body } = await http.request({
    method: 'GET',
    url,
    headers: { accept: 'application/json', ...connection.headers },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    retry: 'safe',
    trustedOrigins: [new URL(url).origin],
  });
  if (status === 404) return null;
  if (status >= 300) throw new Error(`HTTP ${status} of ${path}`);
  return JSON.parse(body.toString('utf8')) as unknown;
}

const openaiList = z.object({
  data: z.array(z.object({ id: z.string(), shutdown_date: z.string().nullish() })),
});

async function readOpenai(vendor: Vendor, path: string): Promise<VendorList> {
  const found = await get(vendor, path);
  if (found === null) throw new Error(`it has no ${path}`);
  const { data } = openaiList.parse(found);
  return {
    models: data.map(({ id, shutdown_date: end }) => ({
      id,
      ...(end !== undefined && { retiresAt: end === null ? null : end.slice(0, 10) }),
    })),
    isWhole: true,
  };
}

const geminiList = z.object({
  models: z.array(z.object({ name: z.string() })).default([]),
  nextPageToken: z.string().optional(),
});

async function readGemini(vendor: Vendor): Promise<VendorList> {
  const models: VendorModel[] = [];
  let token = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const more = token === '' ? '' : `&pageToken=${encodeURIComponent(token)}`;
    const found = geminiList.parse(await get(vendor, `/models?pageSize=1000${more}`));
    models.push(...found.models.map(({ name }) => ({ id: name.replace(/^models\//, '') })));
    token = found.nextPageToken ?? '';
    if (token === '') break;
  }
  return { models, isWhole: true };
}

/** fal's list of models is at a service of its own. */
const FAL_API = 'https://api.fal.ai';
const falList = z.object({
  models: z.array(
    z.object({ endpoint_id: z.string(), metadata: z.object({ status: z.string().nullish() }).nullish() }),
  ),
});
const falPrices = z.object({
  prices: z.array(
    z.object({
      endpoint_id: z.string(),
      unit_price: z.number(),
      unit: z.string(),
      currency: z.string().nullish(),
    }),
  ),
});
const FAL_UNITS: Readonly<Record<string, 'picture' | 'second'>> = {
  image: 'picture',
  images: 'picture',
  second: 'second',
  seconds: 'second',
};

async function readFal(vendor: Vendor): Promise<VendorList> {
  const models: VendorModel[] = [];
  for (let from = 0; from < vendor.ids.length; from += ASKED_AT_ONCE)
    models.push(...(await readFalModels(vendor, vendor.ids.slice(from, from + ASKED_AT_ONCE))));
  return { models, isWhole: true };
}

async function readFalModels(vendor: Vendor, ids: readonly string[]): Promise<readonly VendorModel[]> {
  const api = vendor.connection.endpoints?.['api'] ?? FAL_API;
  const query = ids.map((id) => `endpoint_id=${encodeURIComponent(id)}`).join('&');
  const { models } = falList.parse((await get(vendor, `/v1/models?${query}`, api)) ?? { models: [] });
  const { prices } = falPrices.parse(
    (await get(vendor, `/v1/models/pricing?${query}`, api)) ?? { prices: [] },
  );
  return models.map(({ endpoint_id: id, metadata }) => {
    const told = prices.find((one) => one.endpoint_id === id && (one.currency ?? 'USD') === 'USD');
    const unit = told && FAL_UNITS[told.unit];
    return {
      id,
      isRetired: metadata?.status === 'deprecated',
      ...(told && unit && { price: { unit, amount: told.unit_price } }),
    };
  });
}

const replicateModel = z.object({
  latest_version: z
    .object({
      openapi_schema: z
        .object({
          components: z
            .object({
              schemas: z
                .object({ Input: z.object({ properties: z.record(z.string(), z.unknown()) }).optional() })
                .optional(),
            })
            .optional(),
        })
        .nullish(),
    })
    .nullish(),
});

/** Replicate lists everybody's models: those of the catalog are asked for, each with the schema of its input. */
async function readReplicate(vendor: Vendor): Promise<VendorList> {
  const models: VendorModel[] = [];
  for (const id of vendor.ids) {
    const [name = id] = id.split(':');
    const found = await get(vendor, `/models/${name}`);
    if (found === null) continue;
    const schemas = replicateModel.parse(found).latest_version?.openapi_schema?.components?.schemas;
    const properties = schemas?.Input?.properties;
    models.push({ id, ...(properties !== undefined && { options: Object.keys(properties) }) });
  }
  return { models, isWhole: true };
}
