import { readFileSync } from 'node:fs';

import { expect } from 'vitest';

import type { SentRequest } from '../environment/recording-proxy.ts';

/** One request of a vendor's wire, as its own documents and sources describe it. */
export interface DocumentedRequest {
  readonly method: string;
  /** `{id}` stands for the upstream's own name of the work, or of one of its models. */
  readonly path: string;
  readonly contentType?: string;
  /** Every field that the wire knows, and its JSON type (`file` in forms). */
  readonly fields?: Readonly<Record<string, string>>;
  readonly required?: readonly string[];
}

/** The documented shapes of one wire, with where they were read. */
export interface Fixture {
  readonly sources: readonly {
    readonly repository?: string;
    readonly path?: string;
    readonly commit?: string;
    readonly page?: string;
    readonly gives: string;
  }[];
  readonly requests: Readonly<Record<string, DocumentedRequest>>;
  readonly answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Reads the documented requests and answers of a wire: `wire.fixture.json` in the folder of a provider. */
export function readFixture(file: URL): Fixture {
  return JSON.parse(readFileSync(file, 'utf8')) as Fixture;
}

/** One documented request by its name. */
export function documented(fixture: Fixture, name: string): DocumentedRequest {
  const request = fixture.requests[name];
  if (request === undefined) throw new Error(`the fixture has no request ${name}`);
  return request;
}

/** What a request carried, by field. */
export type SentFields = Readonly<Record<string, unknown>>;

/** Fails unless the request is one that the wire documents: method, path, content type, no unknown field, none missing. */
export async function expectDocumented(
  sent: SentRequest,
  wanted: DocumentedRequest,
  basePath: string,
): Promise<SentFields> {
  expect(sent.method).toBe(wanted.method);
  const path = wanted.path.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll('{id}', '[^/]+');
  expect(sent.path).toMatch(new RegExp(`^${basePath}${path}$`));
  expect(sent.headers).toMatchObject({
    'user-agent': 'Kiln',
    accept: expect.stringMatching(/^(application\/json|text\/event-stream)$/),
  });
  if (wanted.contentType === undefined) {
    expect(sent.body.length).toBe(0);
    return {};
  }
  expect(sent.headers['content-type']).toContain(wanted.contentType);
  const fields = await readFields(sent);
  const types = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, nameType(value)]));
  expect({ ...wanted.fields, ...types }).toEqual(wanted.fields);
  expect(Object.keys(fields)).toEqual(expect.arrayContaining([...(wanted.required ?? [])]));
  return fields;
}

/** Fails unless the request is one of these that the wire documents. */
export async function expectOneOf(
  sent: SentRequest,
  {
    row,
    names,
  }: {
    readonly row: { readonly fixture: Fixture; readonly basePath: string };
    readonly names: readonly string[];
  },
): Promise<void> {
  const tries = await Promise.allSettled(
    names.map((name) => expectDocumented(sent, documented(row.fixture, name), row.basePath)),
  );
  const [first] = tries;
  if (first?.status === 'rejected' && !tries.some(({ status }) => status === 'fulfilled')) throw first.reason;
}

async function readFields({ headers, body }: SentRequest): Promise<SentFields> {
  const contentType = headers['content-type'] ?? '';
  if (contentType.startsWith('application/json')) return JSON.parse(body.toString('utf8')) as SentFields;
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': contentType },
  }).formData();
  return Object.fromEntries(form.entries());
}

function nameType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value instanceof File ? 'file' : typeof value;
}
