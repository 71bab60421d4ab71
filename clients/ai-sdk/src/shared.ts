import type { ImageModelV4File, SharedV4ProviderOptions, SharedV4Warning } from '@ai-sdk/provider';
import { type Kiln, KilnError, type Media } from '@kiln/client';

/** What every model of the provider has. */
export interface ModelOptions {
  readonly kiln: Kiln;
  /** `generator` or `generator:model`, as `models { id }` of Kiln names them. */
  readonly modelId: string;
}

/** The generator and the model that an id names. */
export function named(modelId: string): { readonly generator: string; readonly model?: string } {
  const at = modelId.indexOf(':');
  if (at === -1) return { generator: modelId };
  return { generator: modelId.slice(0, at), model: modelId.slice(at + 1) };
}

/** `providerOptions.kiln`: further members of the input, `options` in the names of the model's vendor among them. */
export function readExtras(
  providerOptions: SharedV4ProviderOptions | undefined,
): Readonly<Record<string, unknown>> {
  return providerOptions?.['kiln'] ?? {};
}

/** The key that the SDK keeps over its own retries, where it has made one. */
export function findKey(headers: Readonly<Record<string, string | undefined>> | undefined): {
  readonly idempotencyKey?: string;
} {
  const found = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'idempotency-key');
  return found?.[1] === undefined ? {} : { idempotencyKey: found[1] };
}

/** Warns of settings that Kiln does not have, where they are given. */
export function unsupported(settings: Readonly<Record<string, unknown>>): SharedV4Warning[] {
  return Object.entries(settings)
    .filter(([, value]) => value !== undefined)
    .map(([feature]) => ({ type: 'unsupported', feature }));
}

/** What the SDK wants to know of a response. */
export function createResponse(modelId: string) {
  return { timestamp: new Date(), modelId, headers: undefined };
}

/** A file as an input: by its address, or stored for an hour and by its id. */
export async function inputFile(kiln: Kiln, file: ImageModelV4File, signal: AbortSignal | undefined) {
  if (file.type === 'url') return { url: file.url };
  const bytes =
    typeof file.data === 'string'
      ? Uint8Array.from(atob(file.data), (char) => char.charCodeAt(0))
      : file.data;
  const blob = new Blob([bytes], { type: file.mediaType });
  const { id } = await kiln.upload(blob, { temporary: true, listed: false, signal });
  return { fileId: id };
}

/** Most bytes of a result that are read into memory. */
const MAX_BYTES = 256 * 1024 * 1024;
const TIMEOUT_MS = 120_000;

/** The bytes of a result. */
export async function download({ url, bytes }: Media, signal: AbortSignal | undefined): Promise<Uint8Array> {
  if (bytes > MAX_BYTES) throw new KilnError('PAYLOAD_TOO_LARGE', `a result of ${bytes} bytes`);
  const late = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { signal: signal ? AbortSignal.any([signal, late]) : late });
  if (!response.ok) throw new KilnError('BAD_ANSWER', `HTTP ${response.status} for a result`);
  return new Uint8Array(await response.arrayBuffer());
}
