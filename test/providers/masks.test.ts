import { Readable } from 'node:stream';

import sharp from 'sharp';
import { beforeAll, expect, it } from 'vitest';

import { until } from '../kit/clients/requests.ts';
import { imageRequest, REFERENCE } from './contract/row.ts';
import { makeContext, must, createImage, SECRET } from './environment/environment.ts';
import { findWire } from './environment/find-wire.ts';
import { useEnvironment } from './environment/use-environment.ts';

/** Edits of an image where a mask is white, at every wire that takes one, each with its stand-in. */

const world = useEnvironment({ queuedMs: 0, runningMs: 10 });
const grey = { width: 64, height: 64, channels: 3, background: '#808080' } as const;
let source: Buffer;
let mask: Buffer;
beforeAll(async () => {
  source = await sharp({ create: grey }).png().toBuffer();
  const white = await sharp({ create: { ...grey, width: 32, background: '#ffffff' } })
    .png()
    .toBuffer();
  mask = await sharp({ create: { ...grey, background: '#000000' } })
    .composite([{ input: white, left: 0, top: 0 }])
    .png()
    .toBuffer();
});

const file = (name: string, bytes: Buffer) =>
  createImage({ name, bytes: bytes.length, open: async () => Readable.from([bytes]) });

it.each([
  ['openai', 'gpt-image-1', '/openai/v1', `Bearer ${SECRET}`],
  ['fal', 'fal-ai/flux-pro/v1/fill', '/fal', `Key ${SECRET}`],
  ['replicate', 'black-forest-labs/flux-fill-pro', '/replicate/v1', `Bearer ${SECRET}`],
])('draws anew at %s what is white in the mask, and leaves the rest', async (wire, model, path, key) => {
  const { jobs, calls } = must(world().providers[wire] ?? null, wire);
  const endpoints = wire === 'fal' ? { rest: '/fal-rest' } : {};
  const connection = world().connection(path, { authorization: key }, { endpoints });
  const context = makeContext({ ...connection, model, ...findWire(wire, model) });
  const request = imageRequest({ images: [file('a.png', source)], mask: file('mask.png', mask) });
  const start = { ...context, reference: REFERENCE };
  const made = async () => {
    if (calls?.IMAGE !== undefined) return calls.IMAGE.call(request, start);
    const job = must(jobs?.IMAGE ?? null, 'job');
    const handle = await job.start(request, start);
    const end = await until(
      () => job.status(handle, context),
      ({ state }) => state === 'finished' || state === 'failed',
    );
    return end.state === 'finished' ? end.outcome : { files: [], texts: [] };
  };
  const [result] = (await made()).files;
  const given = must(result ?? null, 'result');
  const bytes =
    'content' in given ? given.content : new Uint8Array(await (await fetch(given.url)).arrayBuffer());
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (x: number) => {
    const start = (Math.floor(info.height / 2) * info.width + x) * 3;
    return [...data.subarray(start, start + 3)];
  };
  expect(at(info.width - 4)).toEqual([128, 128, 128]);
  expect(at(3)).not.toEqual([128, 128, 128]);
});
