import { Readable } from 'node:stream';

import { parse } from 'graphql';
import { type FileUpload, Upload } from 'graphql-upload-minimal';
import { describe, expect, it } from 'vitest';

import { declaredBytes, findRequestBytes, rememberRequestBytes } from './request-bytes.ts';
import { extractUploads, multipartRequest } from './upload-forwarding.ts';

function upload(
  content = 'x',
  more: Partial<FileUpload> = {},
): { readonly file: Upload; readonly arrive: () => void } {
  const { promise, resolve } = Promise.withResolvers<FileUpload>();
  const file = Object.assign(new Upload(), { promise });
  const arrived = { filename: 'a.txt', mimetype: 'text/plain', encoding: '7bit', ...more };
  const arrive = () =>
    resolve({ ...arrived, createReadStream: () => Readable.from([content]) } as FileUpload);
  return { file, arrive };
}

describe('uploads in variables', () => {
  it('are taken out, each with every place, and the variables stay as they were', () => {
    const [one, other] = [upload().file, upload().file];
    const variables = { a: one, b: [{ c: other }, null, 'text'], d: { e: one }, f: null };
    const { variables: without, uploads } = extractUploads(variables);
    expect(without).toEqual({ a: null, b: [{ c: null }, null, 'text'], d: { e: null }, f: null });
    expect([...uploads]).toEqual([
      [one, ['variables.a', 'variables.d.e']],
      [other, ['variables.b.0.c']],
    ]);
    expect(variables.a).toBe(one);
  });

  it('are looked for only where a type may hold one', () => {
    const { file } = upload();
    const found = (query: string, variables: Record<string, unknown>) => {
      const document = parse(query);
      return [1, 2].map(() => extractUploads(variables, document).uploads.size);
    };
    expect(found('mutation ($a: Upload!) { a }', { a: file })).toEqual([1, 1]);
    expect(found('mutation ($a: [[In!]]!) { a }', { a: [[{ b: file }]] })).toEqual([1, 1]);
    expect(found('mutation ($a: [String!]) { a }', { a: file })).toEqual([0, 0]);
    expect(found('mutation ($other: Upload) { a }', { a: file })).toEqual([0, 0]);
    const plain = { a: 1, b: null };
    expect(extractUploads(plain).variables).toBe(plain);
  });
});

it('a request with files names their places, and has them in the order of their arrival', async () => {
  const [one, other] = [
    upload('first'),
    upload('second', { filename: 'b "2"\r\n.png', mimetype: 'image/png' }),
  ];
  const extracted = extractUploads({ a: one.file, b: other.file });
  const { contentType, body } = multipartRequest({ query: 'mutation', operationName: undefined }, extracted);
  const boundary = /^multipart\/form-data; boundary=(kiln-.+)$/.exec(contentType)?.[1] ?? '';
  other.arrive();
  const parts: string[] = [];
  for await (const chunk of body) {
    parts.push(Buffer.from(chunk).toString());
    if (parts.join('').includes('second')) one.arrive();
  }
  const text = parts.join('');
  expect(text).toContain('{"query":"mutation","variables":{"a":null,"b":null}}');
  expect(text).toContain('{"0":["variables.a"],"1":["variables.b"]}');
  expect(text.indexOf('second')).toBeLessThan(text.indexOf('first'));
  expect(text.split(`--${boundary}`)).toHaveLength(6);
  expect(text.endsWith(`--${boundary}--\r\n`)).toBe(true);
  // What a name holds ends no header.
  const heads = text.split('\r\n').filter((line) => /^content-disposition/i.test(line));
  expect(heads).toHaveLength(4);
  expect(text).toMatch(/name="1"; filename="[^"]*"\r\ncontent-type: image\/png\r\n\r\nsecond/i);
});

it('a request fails with a file that was cut for its size', async () => {
  for (const [truncated, fails] of [
    [true, true],
    [false, false],
  ] as const) {
    const cut = Object.assign(Readable.from(['x']), { truncated });
    const { file } = upload();
    const arrived = {
      filename: 'a.txt',
      mimetype: 'text/plain',
      encoding: '7bit',
      createReadStream: () => cut,
    };
    Object.assign(file, { promise: Promise.resolve(arrived) });
    const { body } = multipartRequest({ query: 'mutation' }, extractUploads({ a: file }));
    const sent = Array.fromAsync(body).then(
      () => null,
      ({ code, message }: Error & { code?: string }) => [code, message],
    );
    expect(await sent).toEqual(
      fails ? ['PAYLOAD_TOO_LARGE', 'the file "a.txt" is larger than allowed'] : null,
    );
  }
});

it('the length of a request is what its sender declared', () => {
  const bytes = (headers: object) => declaredBytes({ headers } as never);
  expect([
    bytes({ 'content-length': '5' }),
    bytes({ 'content-length': '5', 'x-request-bytes': '7' }),
    bytes({ 'x-request-bytes': '7' }),
    bytes({ 'content-length': '0' }),
    bytes({}),
    bytes({ 'content-length': '-1' }),
    bytes({ 'content-length': '1.5' }),
    bytes({ 'x-request-bytes': 'x' }),
  ]).toEqual([5, 5, 7, 0, null, null, null, null]);
  const [one, other] = [{}, {}];
  rememberRequestBytes(one, 5);
  rememberRequestBytes(other, null);
  expect([findRequestBytes(one), findRequestBytes(other)]).toEqual([5, null]);
});
