import type { HttpClient } from '../../../platform/http-client.ts';
import { createMidjourney } from './midjourney/midjourney.ts';
import { createOpenai } from './openai/openai.ts';
import type { Provider } from './provider.ts';

/** Every provider, by name. A new one is a folder, a line here, and its stand-in in sandbox/providers. */
export function createProviders(options: { readonly http: HttpClient }): Readonly<Record<string, Provider>> {
  const all = [createMidjourney(options), createOpenai(options)];
  return Object.fromEntries(all.map((provider) => [provider.name, provider]));
}
